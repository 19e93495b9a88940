import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import { request, type Schema } from '../../api/client'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { OtherSelect, useOther } from '../datasets/Compare'
import type { Version } from '../datasets/samples'
import { diffLines, parts } from './diff'
import { readText } from './files'

/** What differs between two versions, and the lines of one file that do. */
export function FileCompare({ version }: { version: Version }) {
  const { t } = useI18n()
  const [params] = useSearchParams()
  const { pending, ...rest } = useOther(version)
  const { other } = rest
  const found = useQuery({
    queryKey: ['objects', version.kind.name, 'compare', version.item.id, other?.id ?? 0],
    queryFn: async ({ signal }) => (await request<Schema<'FolderChanges'>>(`${version.path}/compare`, { query: { with: other?.id }, signal })).items,
    enabled: other !== null,
  })
  if (!pending && !other) return <Empty title={t('compare.none')} text={t('compare.noneHint')} />
  const items = found.data ?? []
  const shown = items.find((i) => i.path === params.get('file')) ?? items[0]
  const to = (path: string) => { const next = new URLSearchParams(params); next.set('file', path); return `?${next.toString()}` }
  return (
    <section>
      <OtherSelect version={version} {...rest} />
      {found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : found.isPending ? <Skeleton n={2} /> : items.length === 0 ? <Empty title={t('compare.same')} /> : (
        <div className="compare">
          <ul className="compare-list">
            {items.map((item) => <li key={item.path}><span className={`tag change-${item.change}`}>{t(`change.${item.change}`)}</span><Link replace to={to(item.path)} aria-current={item === shown ? 'true' : undefined}>{item.path}</Link></li>)}
          </ul>
          {shown && other && <Lines key={shown.path} before={shown.change === 'added' ? null : `/${version.parentKind.plural}/${version.parent.id}/versions/${other.id}`} after={shown.change === 'removed' ? null : version.path} path={shown.path} />}
        </div>
      )}
    </section>
  )
}

/** The lines of one file that differ; null: there is none on that side. */
export function Lines({ before, after, path }: { before: string | null; after: string | null; path: string }) {
  const { t, n } = useI18n()
  const found = useQuery({
    queryKey: ['file-diff', before, after, path],
    queryFn: async ({ signal }) => {
      const [a, b] = await Promise.all([before, after].map((v) => (v === null ? '' : readText(v, path, signal))))
      return a === null || b === null ? null : parts(diffLines(a ?? '', b ?? ''))
    },
    gcTime: 0,
  })
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (found.data === null) return <p className="muted">{t('files.noText')}</p>
  return (
    <div className="diff mono" tabIndex={0} role="region" aria-label={path}>
      {found.data?.map((part, i) => ('skipped' in part ? <div key={i} className="diff-gap">{t('compare.skipped', { n: n(part.skipped) })}</div> : part.lines.map((line, k) => (
        <div key={`${i}-${k}`} className={`diff-line diff-${line.kind}`}>
          <span className="diff-number">{line.before}</span><span className="diff-number">{line.after}</span>
          <span className="diff-sign">{line.kind === 'added' ? '+' : line.kind === 'removed' ? '−' : ' '}</span>
          <span className="diff-text">{line.text}</span>
        </div>
      ))))}
    </div>
  )
}
