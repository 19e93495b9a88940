// The manuals of docs/: which there are, what they say, and where their links lead.
import { useQueries, useQuery } from '@tanstack/react-query'
import { Problem, readProblem, send } from '../../api/client'
import { docsUrl, type Manual } from '../../app/links'
import { part } from '../../app/part'
import { anchors, markdown, plain, safeUrl } from '../../components/markdown'
import { useI18n } from '../../i18n'
import type { chineseHeading } from '../../i18n/manuals.zh'

export const groups = {
  data: ['demo', 'data', 'labelling', 'annotations', 'record-format'],
  build: ['environments', 'training', 'learning', 'algorithms', 'runtimes', 'images', 'jobs'],
  models: ['models', 'built-in-models', 'evaluation', 'lineage'],
  serve: ['serving', 'gateway', 'inference'],
  scripts: ['cli', 'sdk', 'api'],
  operate: ['operating', 'sign-in', 'containers'],
} as const satisfies Record<string, readonly Manual[]>

export type Group = keyof typeof groups

/** In the order in which they are read. */
export const manuals: readonly Manual[] = Object.values(groups).flat()

export function isManual(name: string | undefined): name is Manual {
  return manuals.some((one) => one === name)
}

const query = (name: Manual) => ({
  queryKey: ['manual', name],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const answer = await send(`/docs/${name}.md`, { signal })
    if (!answer.ok) throw await readProblem(answer)
    // A program of another version may lack it: what comes then is a page.
    if (!answer.headers.get('Content-Type')?.startsWith('text/markdown')) throw new Problem(404, { code: 'not_found' })
    return answer.text()
  },
  staleTime: Infinity,
})

export function useManual(name: Manual) {
  return useQuery(query(name))
}

/** The texts of all manuals, once somebody searches. */
export function useManuals(wanted: boolean): { texts: ReadonlyMap<Manual, string>; pending: boolean; error: Error | null } {
  return useQueries({
    queries: manuals.map((name) => ({ ...query(name), enabled: wanted })),
    combine: (all) => ({
      texts: new Map(all.flatMap(({ data }, i) => (data !== undefined && manuals[i] ? [[manuals[i], data] as const] : []))),
      pending: all.some((one) => one.isLoading),
      error: all.find((one) => one.error)?.error ?? null,
    }),
  })
}

export type Chinese = typeof chineseHeading

/** To readers of Chinese: what the sections of the manuals are called. */
export function useChinese(): Chinese | undefined {
  const { language } = useI18n()
  return useQuery({ queryKey: ['manual', 'chinese'], queryFn: async () => (await part(() => import('../../i18n/manuals.zh'))).chineseHeading, enabled: language === 'zh', staleTime: Infinity }).data
}

/** For links inside a manual: other manuals are pages here; of the rest of the source only the words stay. */
export function resolveIn(manual: Manual): (url: string) => string | null {
  return (url) => {
    const [, name, anchor] = /^([a-z0-9-]*)(?:\.md)?(#.*)?$/.exec(url) ?? []
    if (name === '' && anchor) return docsUrl(manual, anchor.slice(1))
    if (isManual(name)) return docsUrl(name, anchor?.slice(1))
    return /^https?:/.test(url) ? safeUrl(url) : ''
  }
}

export interface Section {
  /** Of its heading; the part before the first heading has none. */
  anchor: string
  level: number
  title: string
  text: string
}

/** What a manual has under each of its headings. */
export function sections(source: string): Section[] {
  const anchor = anchors()
  const found: Section[] = [{ anchor: '', level: 1, title: '', text: '' }]
  for (const block of markdown(source)) {
    if (block.type === 'heading') {
      found.push({ anchor: anchor(block.inside), level: block.level, title: plain(block.inside), text: '' })
      continue
    }
    const last = found.at(-1)
    if (!last) continue
    const words = block.type === 'code' ? block.text
      : block.type === 'table' ? [block.head, ...block.rows].map((row) => row.map(plain).join('  ')).join('\n')
        : block.type === 'list' ? block.items.map(plain).join('\n')
          : block.type === 'line' ? '' : plain(block.inside)
    last.text += `${last.text && '\n'}${words}`
  }
  return found.filter((one) => one.title !== '' || one.text !== '')
}
