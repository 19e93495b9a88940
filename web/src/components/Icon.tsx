// Our own small set of line icons. They are decoration: the control around them carries the label.
const paths = {
  plus: 'M8 3v10M3 8h10',
  search: 'M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM11 11l3.5 3.5',
  menu: 'M2 4h12M2 8h12M2 12h12',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  edit: 'M3 13l.8-3L10.5 3.3a1.2 1.2 0 0 1 1.7 0l.5.5a1.2 1.2 0 0 1 0 1.7L6 12.2z',
  trash: 'M3 4.5h10M6.5 4V2.5h3V4M4.5 4.5l.6 9h5.8l.6-9',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  close: 'M4 4l8 8M12 4l-8 8',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3z',
  screen: 'M2 3h12v8H2zM6 13.5h4M8 11v2.5',
  user: 'M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8zM2.8 14c.5-2.6 2.6-4 5.2-4s4.7 1.4 5.2 4',
  out: 'M6 2.5H3v11h3M10.5 11l3-3-3-3M13.5 8H6.5',
  globe: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c3.5 3.6 3.5 8.400 0 12M8 2c-3.500 3.600-3.500 8.400 0 12',
  key: 'M9.500 9a3.500 3.500 0 1 0-3-1.700L2 11.800V14h2.200l1-1v-1.300h1.300L8 10.300',
  book: 'M3 2.500h8.500a1.500 1.500 0 0 1 1.500 1.500v9.500H4.500A1.500 1.500 0 0 1 3 12zM3 12a1.500 1.500 0 0 1 1.500-1.500H13',
  up: 'M8 12.500v-9M4 7l4-4 4 4',
  down: 'M8 3.500v9M4 9l4 4 4-4',
  chevron: 'M5.500 3.500L10.500 8l-5 4.500',
  drag: 'M6 3.500h.01M10 3.500h.01M6 8h.01M10 8h.01M6 12.500h.01M10 12.500h.01',
  home: 'M2.500 7.500L8 2.500l5.500 5v6h-4v-4h-3v4h-4z',
  list: 'M5.500 4h8M5.500 8h8M5.500 12h8M2.500 4h.01M2.500 8h.01M2.500 12h.01',
  refresh: 'M13 5.500A5.500 5.500 0 1 0 13.500 9M13.500 2.500v3.200h-3.200',
  bolt: 'M9 1.500L3.500 9H8l-1 5.500L12.500 7H8z',
  picture: 'M2 3h12v10H2zM5.200 7.200a1.200 1.200 0 1 0 0-2.400 1.200 1.200 0 0 0 0 2.400zM2 11.500l3.500-3 3 2.500L11 8.500l3 2.800',
  folder: 'M2 4.500V12a1 1 0 0 0 1 1h10a1 1 0 0 0 1-1V6a1 1 0 0 0-1-1H8.300L7 3.500H3a1 1 0 0 0-1 1z',
  file: 'M4 2h5l3.500 3.500V14H4zM9 2v3.500h3.500',
  cards: 'M2.500 2.500h4.500v4.500H2.500zM9 2.500h4.500v4.500H9zM2.500 9h4.500v4.500H2.500zM9 9h4.500v4.500H9z',
  sound: 'M2.500 6.500v3M5.250 4v8M8 2v12M10.750 5v6M13.500 6.500v3',
  play: 'M5 3v10l8-5z',
  pause: 'M5.500 3v10M10.500 3v10',
  keyboard: 'M1.500 4h13v8h-13zM4 6.500h.01M6.700 6.500h.01M9.300 6.500h.01M12 6.500h.01M5 9.500h6',
  eye: 'M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  hidden: 'M2 2l12 12M6 3.800A6.500 6.500 0 0 1 8 3.500c4 0 6.500 4.500 6.500 4.500a11 11 0 0 1-1.800 2.300M4 5.200A11 11 0 0 0 1.500 8S4 12.500 8 12.500a6.500 6.500 0 0 0 3-.800',
  lock: 'M3.500 7h9v6.500h-9zM5.500 7V5a2.500 2.500 0 0 1 5 0v2',
  unlock: 'M3.500 7h9v6.500h-9zM5.500 7V5a2.500 2.500 0 0 1 4.800-1',
} as const

export type IconName = keyof typeof paths

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} fill="none" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  )
}
