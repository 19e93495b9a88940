import { theme as antd, type ThemeConfig } from 'antd'

// One list of colours for both themes: our style sheet gets them as --name, Ant Design as tokens.
interface Palette {
  bg: string
  sunken: string
  raised: string
  hover: string
  selected: string
  marked: string
  border: string
  control: string
  text: string
  muted: string
  accent: string
  link: string
  ok: string
  warn: string
  danger: string
  dangerFill: string
  shadow: string
  edge: string
}

const light: Palette = {
  bg: '#ffffff',
  sunken: '#f6f7f7',
  raised: '#ffffff',
  hover: '#f0f3f3',
  selected: '#e3f1ef',
  marked: '#ffe9a8',
  border: '#e1e5e5',
  control: '#c3caca',
  text: '#17211f',
  muted: '#56625f',
  accent: '#0f766e',
  link: '#0b6b63',
  ok: '#1a7436',
  warn: '#8a5a00',
  danger: '#b42318',
  dangerFill: '#b42318',
  shadow: '0 8px 28px rgb(10 30 28 / 16%)',
  edge: 'rgb(10 30 28 / 14%)',
}

const dark: Palette = {
  bg: '#121617',
  sunken: '#0c0f10',
  raised: '#1a1f21',
  hover: '#1c2224',
  selected: '#16302d',
  marked: '#4d3f10',
  border: '#293032',
  control: '#454f51',
  text: '#e3e8e8',
  muted: '#9ba7a7',
  accent: '#117d74',
  link: '#56cdbf',
  ok: '#5fc27e',
  warn: '#dfaf4d',
  danger: '#ff9187',
  dangerFill: '#b3372d',
  shadow: '0 8px 28px rgb(0 0 0 / 55%)',
  edge: 'rgb(255 255 255 / 14%)',
}

// Inter has no Chinese: that comes from the system.
const font =
  'Inter, system-ui, -apple-system, "Segoe UI", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif'

export function applyPalette(isDark: boolean): void {
  const root = document.documentElement
  root.dataset['theme'] = isDark ? 'dark' : 'light'
  root.style.colorScheme = isDark ? 'dark' : 'light'
  root.style.setProperty('--font', font)
  for (const [name, value] of Object.entries(isDark ? dark : light)) root.style.setProperty(`--${name}`, value)
}

export function antdTheme(isDark: boolean): ThemeConfig {
  const c = isDark ? dark : light
  const still = globalThis.window?.matchMedia?.('(prefers-reduced-motion: reduce)').matches === true
  return {
    algorithm: isDark ? antd.darkAlgorithm : antd.defaultAlgorithm,
    token: {
      colorPrimary: c.accent,
      colorLink: c.link,
      colorError: c.dangerFill,
      colorSuccess: c.ok,
      colorWarning: c.warn,
      colorInfo: c.accent,
      colorText: c.text,
      colorTextSecondary: c.muted,
      colorTextTertiary: c.muted,
      colorTextDescription: c.muted,
      colorTextPlaceholder: c.muted,
      colorErrorText: c.danger,
      colorBgBase: c.bg,
      colorBgContainer: c.bg,
      colorBgElevated: c.raised,
      colorBorder: c.control,
      colorBorderSecondary: c.border,
      fontFamily: font,
      fontSize: 13,
      fontSizeLG: 14,
      controlHeight: 30,
      controlHeightSM: 24,
      borderRadius: 5,
      wireframe: false,
      motion: !still,
    },
    components: {
      Button: { primaryShadow: 'none', defaultShadow: 'none', dangerShadow: 'none', fontWeight: 500 },
      Modal: { titleFontSize: 15 },
      Select: { optionSelectedBg: c.selected, optionActiveBg: c.hover },
      Segmented: { trackBg: c.sunken },
      Slider: { railBg: c.border, railHoverBg: c.border, trackBg: c.link, trackHoverBg: c.link, handleColor: c.link, handleActiveColor: c.link },
      Tabs: { itemSelectedColor: c.link, itemHoverColor: c.link, itemActiveColor: c.link, inkBarColor: c.link },
    },
  }
}
