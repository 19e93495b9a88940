import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from 'antd'
import { useState, type ReactNode } from 'react'
import { Link } from 'react-router'
import { request, type Schema } from '../../api/client'
import { invalidate } from '../../api/objects'
import { formatBytes } from '../../components/format'
import { useOnce } from '../../components/hooks'
import { ProblemNote } from '../../components/ProblemNote'
import { Empty, ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import { TaskView } from '../tasks/TaskView'
import type { Task } from '../tasks/tasks'
import { sampleStates, useStatistics, type Version } from './samples'

interface BarRow {
  key: string
  title: string
  value: number
  note?: string
  to?: string
}

/** Horizontal bars with their numbers; the longest fills the width. */
function Bars({ rows, label }: { rows: BarRow[]; label: string }) {
  const { n } = useI18n()
  const most = Math.max(1, ...rows.map((r) => r.value))
  return (
    <table className="bars" aria-label={label}>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row">{row.to ? <Link to={row.to}>{row.title}</Link> : row.title}</th>
            <td className="bars-line">{row.value > 0 && <div style={{ width: `${(row.value / most) * 100}%` }} />}</td>
            <td className="right num">{n(row.value)}{row.note && <span className="muted"> {row.note}</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Block({ title, children }: { title: string; children: ReactNode }) {
  return <section className="block"><h2>{title}</h2>{children}</section>
}

export function StatisticsTab({ version }: { version: Version }) {
  const { t, n } = useI18n()
  const [all, setAll] = useState(false)
  const found = useStatistics(version)
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const data = found.data
  if (!data) return <div className="skeleton" aria-busy="true"><div /><div /></div>
  if (data.samples === 0 && data.states.cleaned === 0) return <Empty title={t('gallery.empty')} text={t('statistics.empty')} />
  const labels = [...data.labels].sort((a, b) => b.samples - a.samples)
  const shown = all ? labels : labels.slice(0, 30)
  return (
    <div className="summary statistics">
      <dl className="facts">
        <div><dt>{t('tab.samples')}</dt><dd className="num">{n(data.samples)}</dd></div>
        <div><dt>{t('versions.size')}</dt><dd className="num">{formatBytes(data.bytes)}</dd></div>
        <div><dt>{t('statistics.mean')}</dt><dd className="num">{data.samples > 0 ? formatBytes(Math.round(data.bytes / data.samples)) : t('value.none')}</dd></div>
        <div><dt>{t('labels.title')}</dt><dd className="num">{n(labels.length)}</dd></div>
      </dl>
      <Block title={t('statistics.states')}>
        <Bars label={t('statistics.states')} rows={sampleStates.map((s) => ({ key: s, title: t(`sampleState.${s}`), value: data.states[s], to: `?state=${s}` }))} />
      </Block>
      <Block title={t('statistics.labels')}>
        {labels.length === 0 ? <p className="muted">{t('statistics.noLabels')}</p> : (
          <>
            <Bars label={t('statistics.labels')} rows={shown.map((l) => ({ key: l.label, title: l.label, value: l.samples, note: t('statistics.shapes', { n: n(l.shapes) }), to: `?label=${encodeURIComponent(l.label)}` }))} />
            {labels.length > shown.length && <Button type="text" onClick={() => setAll(true)}>{t('value.more', { n: n(labels.length - shown.length) })}</Button>}
          </>
        )}
      </Block>
      {version.parent['data_type'] === 'image' && <Sharpness version={version} />}
    </div>
  )
}

/** Runs the measurement that sharpness and duplicates need. */
export function Measure({ version }: { version: Version }) {
  const { t } = useI18n()
  const client = useQueryClient()
  const run = useMutation({ mutationFn: () => request<Task>(`${version.path}/measure`, { method: 'POST', body: {} }) })
  const measure = useOnce(() => run.mutateAsync().catch(() => undefined))
  return (
    <>
      {run.data ? <TaskView id={run.data.id} onOver={() => void invalidate(client, 'dataset_version')} /> : <Button loading={run.isPending} disabled={!version.open} onClick={() => void measure()}>{t('statistics.measure')}</Button>}
      {run.error && <ProblemNote error={run.error} />}
    </>
  )
}

function Sharpness({ version }: { version: Version }) {
  const { t, n } = useI18n()
  const [at, setAt] = useState<number | null>(null)
  const found = useQuery({
    queryKey: ['objects', 'dataset_version', 'sharpness', version.item.id],
    queryFn: ({ signal }) => request<Schema<'DatasetSharpness'>>(`${version.path}/sharpness`, { signal }),
  })
  const data = found.data
  if (!data) return null
  const most = Math.max(1, ...data.bins.map((b) => b.samples))
  const below = at === null ? null : data.bins.slice(0, at + 1).reduce((sum, b) => sum + b.samples, 0)
  return (
    <Block title={t('statistics.sharpness')}>
      {data.measured < Number(version.item['samples']) && <div className="measure"><p className="muted">{t('statistics.measured', { n: n(data.measured), total: n(Number(version.item['samples'])) })}</p><Measure version={version} /></div>}
      {data.measured > 0 && (
        <figure className="histogram">
          <svg viewBox="0 0 500 120" preserveAspectRatio="none" role="img" aria-label={t('statistics.sharpness')} onMouseLeave={() => setAt(null)}>
            {data.bins.map((bin, i) => (
              <g key={bin.from} onMouseEnter={() => setAt(i)}>
                <rect x={i * 10} y={0} width={10} height={120} fill="transparent" />
                <rect className={at !== null && i <= at ? 'below' : undefined} x={i * 10 + 1} y={120 - (bin.samples / most) * 116} width={8} height={(bin.samples / most) * 116} />
              </g>
            ))}
          </svg>
          <div className="axis num"><span>0</span><span>{n(data.bins[25]?.from ?? 0, 0)}</span><span>{n(5000)}</span></div>
          <figcaption className="muted">{at === null || below === null ? t('statistics.sharpnessHint') : t('statistics.below', { n: n(below), threshold: n(data.bins[at]?.to ?? 0, 0) })}</figcaption>
        </figure>
      )}
    </Block>
  )
}
