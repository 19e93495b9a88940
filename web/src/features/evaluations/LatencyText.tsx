import { useI18n } from '../../i18n'
import type { Latency } from './latency'

/** How long a sample took, and on what that was measured. */
export function LatencyText({ latency }: { latency: Latency }) {
  const { t, n } = useI18n()
  const ms = (value: number) => n(value, value < 10 ? 1 : 0)
  const where = [
    latency.cpus !== undefined && t('evaluation.latencyCpus', { n: n(latency.cpus, 2) }),
    latency.processor, latency.node,
    latency.at_a_time > 1 && t('evaluation.latencyBeside', { n: n(latency.at_a_time) }),
  ].filter(Boolean).join(', ')
  return (
    <span className="num" title={t('evaluation.latencyHint', { n: n(latency.samples) })}>
      {t('evaluation.latencyMs', { ms: ms(latency.p50) })} <small className="muted">{t('evaluation.latencyMost', { ms: ms(latency.p95) })}{where && ` · ${where}`}</small>
    </span>
  )
}
