import type { Language } from '../app/prefs'

// The one place where bytes, durations, counts and times become text.
const binary = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']
const decimal = ['B', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB']

export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes)) return '—'
  let value = Math.abs(bytes)
  let unit = 0
  while (value >= 1024 && unit < binary.length - 1) {
    value /= 1024
    unit += 1
  }
  const digits = unit === 0 || value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2
  const text = value.toFixed(digits).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
  return `${bytes < 0 ? '-' : ''}${text} ${binary[unit]}`
}

/** "16 GiB", "1.5t", "500 MB", "1024"; null when it is no size. A bare letter is binary, as people mean it. */
export function parseBytes(text: string): number | null {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text.replace(/,/g, ''))
  if (!match) return null
  const amount = Number(match[1])
  const unit = (match[2] ?? '').toLowerCase()
  const power = factor(unit)
  if (power === null) return null
  const bytes = Math.round(amount * power)
  return Number.isSafeInteger(bytes) ? bytes : null
}

function factor(unit: string): number | null {
  if (unit === '' || unit === 'b') return 1
  const i = binary.findIndex((u) => u.toLowerCase() === unit || u[0]?.toLowerCase() === unit)
  if (i > 0) return 1024 ** i
  const d = decimal.findIndex((u) => u.toLowerCase() === unit)
  return d > 0 ? 1000 ** d : null
}

/** An exact text for an input: the largest unit that loses nothing. */
export function bytesForInput(bytes: number): string {
  for (let i = binary.length - 1; i > 0; i -= 1) {
    const value = bytes / 1024 ** i
    if (value >= 1 && Number.isInteger(value * 100)) return `${value} ${binary[i]}`
  }
  return `${bytes} B`
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

const exactSteps: typeof steps = [...steps, ['second', 1]]

/** null: just now. exact: seconds count too, for what is known to come. */
export function relativeTime(then: number, now: number, language: Language, exact = false): string | null {
  const seconds = Math.round((then - now) / 1000)
  const format = new Intl.RelativeTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', { numeric: 'auto' })
  for (const [unit, size] of exact ? exactSteps : steps) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit).replace(/(\d)(?=\p{Script=Han})/gu, '$1 ')
  }
  return null
}

export function absoluteTime(then: number, language: Language): string {
  return new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', {
    dateStyle: 'medium',
    timeStyle: 'long',
  }).format(then)
}

/** A place in a sound, or its length: "0.35 s", "1 min 5 s". */
export function formatMoment(seconds: number, language: Language): string {
  return seconds < 60 ? `${Math.round(seconds * 100) / 100} ${units[language][3]}` : formatDuration(seconds, language)
}

const units: Record<Language, [string, string, string, string]> = { en: ['d', 'h', 'min', 's'], zh: ['天', '小时', '分', '秒'] }

export function formatDuration(seconds: number, language: Language): string {
  const s = Math.max(0, Math.round(seconds))
  const [day, hour, minute, second] = units[language]
  const parts: [number, string][] = [
    [Math.floor(s / 86_400), day],
    [Math.floor(s / 3600) % 24, hour],
    [Math.floor(s / 60) % 60, minute],
    [s % 60, second],
  ]
  const first = parts.findIndex(([value]) => value > 0)
  if (first < 0) return `0 ${second}`
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ')
}

/** Length as the server counts it: in characters, not UTF-16 units. */
export function characters(text: string): number {
  return [...text].length
}
