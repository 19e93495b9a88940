import { i18nOf } from '../../i18n'
import { commands, type Group } from './commands'

const groups: readonly Group[] = ['go', 'work', 'tool', 'shape', 'view', 'media']

export function shown(key: string): string {
  return key === ' ' ? 'Space' : key.replace(/^(.*\+)?([a-z])$/, (_, before: string | undefined, letter: string) => `${before ?? ''}${letter.toUpperCase()}`)
}

/** The key map of docs/labelling.md, in Markdown: written there by hand from here, and compared by a test. */
export function keyTable(): string {
  const [en, zh] = [i18nOf('en'), i18nOf('zh')]
  const rows = groups.flatMap((group) => commands.filter((c) => c.group === group && c.key !== '').map((c) => `| \`${shown(c.key)}\` | ${en.t(c.title)} | ${zh.t(c.title)} |`))
  return ['| key | what | 作用 |', '|---|---|---|', ...rows].join('\n')
}
