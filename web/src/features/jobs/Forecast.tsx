import { useQuery } from '@tanstack/react-query'
import { useApp } from '../../app/context'
import { request, type Schema } from '../../api/client'
import { Meters } from '../overview/Meter'
import { formatDuration } from '../../components/format'
import { useDebounced } from '../../components/hooks'
import { isRef } from '../../components/names'
import { useI18n } from '../../i18n'
import type { FormNoteProps } from '../objects/special'
import { useForecast } from './jobs'
import { useSpecs } from './pick/Spec'
import { formatBytes } from '../../components/format'
import './compute.css'

function whole(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isInteger(value) ? value : fallback
}

/** Beside a form: how long what it makes is likely to wait, what that takes, and what the project has left. */
export function ForecastNote(props: FormNoteProps) {
  const { t } = useI18n()
  const here = useApp().project?.id
  const project = props.place.project ?? here
  return (
    <>
      <section><h2>{t('forecast.title')}</h2><Likely {...props} project={project} /></section>
      {project !== undefined && <Left project={project} />}
    </>
  )
}

/** What the project may use and uses now. */
function Left({ project }: { project: number }) {
  const { t } = useI18n()
  const { data } = useQuery({
    queryKey: ['overview', project, 'now'],
    queryFn: ({ signal }) => request<Schema<'ProjectOverview'>>(`/projects/${project}/overview`, { query: { points: 1 }, signal }),
    staleTime: 10_000,
    retry: false,
  })
  if (!data) return null
  return <section><h2>{t('project.quota')}</h2><Meters most={data.quota} used={data.use} /></section>
}

function Likely({ values, project }: FormNoteProps & { project: number | undefined }) {
  const { t, w, n, language } = useI18n()
  const spec = isRef(values['spec']) ? values['spec'].id : null
  const nodes = whole(values['nodes'] ?? values['replicas'], 1)
  const wanted = useDebounced(`${spec ?? ''} ${nodes} ${whole(values['priority'], 0)}`, 250)
  const [askedSpec, askedNodes, askedPriority] = wanted.split(' ').map(Number)
  const found = useForecast(project, askedSpec ? askedSpec : null, askedNodes ?? 1, askedPriority ?? 0)
  const chosen = useSpecs().data?.find((s) => s.id === spec)
  if (spec === null) return <p className="note forecast muted">{t('forecast.choose')}</p>
  const forecast = found.data
  const level = !forecast ? '' : !forecast.admitted ? 'forecast-no' : forecast.starts_now ? 'forecast-now' : 'forecast-wait'
  const sum = chosen && nodes > 0 ? t('forecast.sum', { cpus: t('spec.cpus', { n: n(nodes * Number(chosen['cpus'])) }), memory: formatBytes(nodes * Number(chosen['memory'])) }) : ''
  const devices = chosen && Number(chosen['accelerators']) > 0 ? ` · ${n(nodes * Number(chosen['accelerators']))} × ${String(chosen['accelerator'])}` : ''
  return (
    <div className={`note forecast ${level}`} role="status" aria-live="polite">
      {forecast ? (
        <p>
          <strong>{t(!forecast.admitted ? 'forecast.never' : forecast.starts_now ? 'forecast.now' : forecast.wait_s === null ? 'forecast.unknown' : 'forecast.wait', { time: formatDuration(forecast.wait_s ?? 0, language) })}</strong>
          {!forecast.starts_now && forecast.reason && w(forecast.reason) && <span>{w(forecast.reason)}</span>}
        </p>
      ) : <p className="muted">{t(found.isError ? 'forecast.failed' : 'forecast.asking')}</p>}
      <p className="muted num">{sum}{devices}</p>
    </div>
  )
}
