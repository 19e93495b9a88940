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

/** Before something is made: what it takes in all, whether the quota admits it, and how long it is likely to wait. */
export function ForecastNote({ values, place }: FormNoteProps) {
  const { t, w, n, language } = useI18n()
  const spec = isRef(values['spec']) ? values['spec'].id : null
  const nodes = whole(values['nodes'], 1)
  const wanted = useDebounced(`${spec ?? ''} ${nodes} ${whole(values['priority'], 0)}`, 250)
  const [askedSpec, askedNodes, askedPriority] = wanted.split(' ').map(Number)
  const found = useForecast(place.project, askedSpec ? askedSpec : null, askedNodes ?? 1, askedPriority ?? 0)
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
