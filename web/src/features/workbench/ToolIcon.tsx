// Icons of tools, in the manner of components/Icon.
const paths: Record<string, string> = {
  select: 'M4 2l8 6.500-4 .600L10.500 13l-1.800.900-2.300-4L4 12.500z',
  box: 'M2.500 3.500h11v9h-11z',
  'box-clicks': 'M2.500 3.500h11v9h-11zM1.500 3.500h2M2.500 2.500v2M12.500 12.500h2M13.500 11.500v2',
  'box-extreme': 'M8 2.500h.01M13.500 8h.01M8 13.500h.01M2.500 8h.01M4 4h8v8H4z',
  rotated: 'M6 1.500l8.500 6L10 14.500 1.500 8.500z',
  polygon: 'M8 2l6 4.500-2.300 7H4.300L2 6.500z',
  freehand: 'M3 11c-2-4 1-9 6-8s6 6 3 9-7 2-9-1z',
  points: 'M3 12L8 3l5 9M3 12h.01M8 3h.01M13 12h.01M2 11h2v2H2zM7 2h2v2H7zM12 11h2v2h-2z',
  hole: 'M2 2.500h12v11H2zM6 6h4v4H6z',
  cut: 'M3 13L13 3M5 4.500a1.500 1.500 0 1 1-3 0 1.500 1.500 0 0 1 3 0zM14 11.500a1.500 1.500 0 1 1-3 0 1.500 1.500 0 0 1 3 0z',
  keypoints: 'M8 3.500v4l-4 5M8 7.500l4 5M8 2.500h.01M4 13h.01M12 13h.01',
  skeleton: 'M8 5v4M4 6.500h8M8 9l-3 5M8 9l3 5M8 5a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3z',
  order: 'M3 3.500h1v3M3 10h1.500L3 12.500h1.500M7 5h7M7 11h7',
  pan: 'M8 1.500v13M1.500 8h13M6 3.500l2-2 2 2M6 12.500l2 2 2-2M3.500 6l-2 2 2 2M12.500 6l2 2-2 2',
  note: 'M2.500 3h11v7.500H8L5 13.500v-3H2.500zM8 4.800v2.400M8 8.700h.01',
  filter: 'M2.500 3.500h11L9.500 8.500v4.500l-3-1.500v-3z',
  undo: 'M3 6h6.500a3.500 3.500 0 0 1 0 7H6M3 6l3-3M3 6l3 3',
  redo: 'M13 6H6.500a3.500 3.500 0 0 0 0 7H10M13 6l-3-3M13 6l-3 3',
  fit: 'M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4',
  'zoom-in': 'M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM11 11l3.500 3.500M5 7h4M7 5v4',
  'zoom-out': 'M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM11 11l3.500 3.500M5 7h4',
  history: 'M2.500 8a5.500 5.500 0 1 0 1.700-4M2.500 2v3h3M8 5v3.300l2.200 1.400',
  many: 'M2.500 2.500h4.500v4.500H2.500zM9 2.500h4.500v4.500H9zM2.500 9h4.500v4.500H2.500zM9 9h4.500v4.500H9z',
}

export function ToolIcon({ name }: { name: string }) {
  return (
    <svg className="icon" width={16} height={16} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name] ?? paths['select']} fill="none" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  )
}
