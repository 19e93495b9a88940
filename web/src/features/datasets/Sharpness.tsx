import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button, Slider } from 'antd'
import { request, type Schema } from '../../api/client'
import { invalidate } from '../../api/objects'
import { useOnce } from '../../components/hooks'
import { ProblemNote } from '../../components/ProblemNote'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { TaskView } from '../tasks/TaskView'
import type { Task } from '../tasks/tasks'
import { below, endNear } from './histogram'
import type { Version } from './samples'

/** Runs the measurement that sharpness and duplicates need. */
export function Measure({ version }: { version: Version }) {
  const { t } = useI18n()
  const client = useQueryClient()
  const run = useMutation({ mutationFn: () => request<Task>(`${version.path}/measure`, { method: 'POST', body: {} }) })
  const measure = useOnce(() => run.mutateAsync().catch(() => undefined))
  return (
    <>
      {run.data ? <TaskView id={run.data.id} onOver={() => void invalidate(client, 'dataset_version')} /> : version.may && <Button loading={run.isPending} onClick={() => void measure()}>{t('statistics.measure')}</Button>}
      {run.error && <ProblemNote error={run.error} />}
    </>
  )
}

const marks = [0, 0.25, 0.5, 0.75]

/** How sharp the pictures of a version are, and how many lie below a threshold, which can be moved. */
export function SharpnessHistogram({ version, threshold, onThreshold }: { version: Version; threshold: number; onThreshold: (value: number) => void }) {
  const { t, n } = useI18n()
  const found = useQuery({
    queryKey: ['objects', 'dataset_version', 'sharpness', version.item.id],
    queryFn: ({ signal }) => request<Schema<'DatasetSharpness'>>(`${version.path}/sharpness`, { signal }),
  })
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const data = found.data
  if (!data) return <Skeleton n={1} />
  const { bins } = data
  const all = Number(version.item['samples'])
  const most = Math.max(1, ...bins.map((b) => b.samples))
  const end = endNear(bins, threshold)
  const endOf = (i: number) => (i === 0 ? 0 : (bins[i - 1]?.to ?? 0))
  return (
    <>
      {data.measured < all && <div className="measure"><p className="muted">{t('statistics.measured', { n: n(data.measured), total: n(all) })}</p><Measure version={version} /></div>}
      {data.measured > 0 && (
        <figure className="histogram">
          <svg viewBox={`0 0 ${bins.length * 10} 120`} preserveAspectRatio="none" role="img" aria-label={t('statistics.sharpness')}>
            {bins.map((bin, i) => {
              const height = bin.samples > 0 ? Math.max(2, (bin.samples / most) * 116) : 0
              return <rect key={bin.from} className={i < end ? 'below' : undefined} x={i * 10 + 1} y={120 - height} width={8} height={height} />
            })}
          </svg>
          <Slider className="threshold" min={0} max={bins.length} value={end} onChange={(i: number) => onThreshold(endOf(i))} ariaLabelForHandle={t('preprocess.threshold')} ariaValueTextFormatterForHandle={(i) => n(endOf(i), 0)} tooltip={{ formatter: (i) => n(endOf(i ?? 0), 0) }} />
          <div className="axis num">{marks.map((share) => <span key={share}>{n(bins[Math.floor(share * bins.length)]?.from ?? 0, 0)}</span>)}<span>{t('statistics.atLeast', { n: n(bins.at(-1)?.to ?? 0, 0) })}</span></div>
          <figcaption className="muted" role="status">{t('statistics.below', { n: n(below(bins, threshold)), total: n(data.measured), threshold: n(threshold, 0) })}</figcaption>
        </figure>
      )}
    </>
  )
}
