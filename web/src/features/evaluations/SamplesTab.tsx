import { useInfiniteQuery } from '@tanstack/react-query'
import { Segmented, Select } from 'antd'
import { Link, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { versionUrl } from '../../app/links'
import { request, type Schema } from '../../api/client'
import type { Item, Ref } from '../../api/kinds'
import { isRef } from '../../components/names'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { MoreRows } from '../objects/MoreRows'
import { hasShapes } from './evaluations'
import { useReport } from './ReportTab'
import { SampleCard } from './SampleCard'

const kinds = ['all', 'missed', 'mistake'] as const
const pageSize = 20

/** Where the truth is: of the API and of the pages. */
export function useTruth(item: Item): { path: string; url: string } | null {
  const { project, kind } = useApp()
  const ref: Ref | null = isRef(item['dataset_version']) ? item['dataset_version'] : null
  const datasets = kind('dataset')
  const number = Number(/^v(\d+)$/.exec(ref?.name ?? '')?.[1])
  if (!ref?.of || !datasets || !number) return null
  return { path: `/datasets/${ref.of.id}/versions/${ref.id}`, url: versionUrl(datasets, ref.of.id, number, project) }
}

/** The samples, the worst first: the truth on one side, what was found on the other. */
export function SamplesTab({ path, item }: { path: string; item: Item }) {
  const { t, n } = useI18n()
  const [params, setParams] = useSearchParams()
  const report = useReport(path, item)
  const truth = useTruth(item)
  const kind = kinds.find((k) => k === params.get('kind')) ?? 'all'
  const label = params.get('label')
  const cell = params.get('cell')
  const set = (values: Record<string, string | null>) => setParams((old) => {
    const next = new URLSearchParams(old)
    for (const [name, value] of Object.entries(values)) if (value) next.set(name, value); else next.delete(name)
    return next
  }, { replace: true })
  const found = useInfiniteQuery({
    queryKey: ['objects', 'evaluation', 'samples', item.id, item['ended_at'], kind, label, cell],
    queryFn: ({ pageParam, signal }) => request<Schema<'EvaluationSamples'>>(`${path}/samples`, { query: { kind, label, cell, after: pageParam, limit: pageSize }, signal }),
    initialPageParam: 0,
    getNextPageParam: (last) => last.next ?? undefined,
  })
  const items = found.data?.pages.flatMap((page) => page.items) ?? []
  const first = found.data?.pages[0]
  const [trueLabel, foundLabel] = cell?.split(',') ?? []
  const name = (text: string | undefined) => (text === '-' ? t('evaluation.nothing') : text ?? '')
  return (
    <section className="evaluation">
      <div className="tools row wrap">
        <Segmented value={kind} onChange={(value) => set({ kind: value === 'all' ? null : String(value) })} options={kinds.map((k) => ({ value: k, label: t(`evaluation.kind.${k}`) }))} />
        <Select allowClear showSearch className="facet" placeholder={t('evaluation.label')} aria-label={t('evaluation.label')} value={label} onChange={(value: string | undefined) => set({ label: value ?? null, cell: null })}
          options={(report.data?.labels ?? []).map((row) => ({ value: row.label, label: row.label }))} />
        {cell && <span className="tag">{t('evaluation.cellShort', { truth: name(trueLabel), found: name(foundLabel) })} <button type="button" className="link" aria-label={t('evaluation.clearCell')} onClick={() => set({ cell: null })}>×</button></span>}
        <span className="grow" />
        {first && <span className="muted num">{t('evaluation.count', { n: n(first.total) })}</span>}
      </div>
      {items.some(hasShapes) && <p className="muted legend-line"><i className="key key-true" />{t('evaluation.key.true')} <i className="key key-missed" />{t('evaluation.key.missed')} <i className="key key-hit" />{t('evaluation.key.hit')} <i className="key key-mistake" />{t('evaluation.key.mistake')}</p>}
      {found.error && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Skeleton n={2} />}
      {first && items.length === 0 && <Empty title={t('evaluation.noSamples')} text={kind === 'all' && !label && !cell ? undefined : t('evaluation.noSamplesText')} />}
      <ol className="evaluation-samples">
        {items.map((sample) => (
          <li key={sample.sample}>
            <SampleCard sample={sample} score={first?.score ?? 0} path={truth?.path ?? null} />
            <p className="row wrap">
              <code className="clip" title={sample.file}>{sample.file}</code>
              <span className="muted num">{t('evaluation.sampleCounts', { hits: n(sample.hits), mistakes: n(sample.mistakes), missed: n(sample.missed) })}</span>
              <span className="grow" />
              {truth && <Link to={`${truth.url}?sample=${sample.sample}`}>{t('evaluation.openSample')}</Link>}
              {truth && <Link to={`${truth.url}/label?sample=${sample.sample}`}>{t('evaluation.mend')}</Link>}
            </p>
          </li>
        ))}
      </ol>
      <MoreRows list={found} />
    </section>
  )
}
