import { useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { clock } from '../../components/Chart'

/** The newest lines of all replicas, by their time. */
export function ServiceLog({ service }: { service: number }) {
  const { t, language } = useI18n()
  const found = useQuery({
    queryKey: ['service-log', service],
    queryFn: ({ signal }) => request<Schema<'ServiceLog'>>(`/services/${service}/log`, { signal }),
    refetchInterval: 2000,
  })
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton n={2} />
  if (found.data.lines.length === 0) return <p className="note">{t('service.noLog')}</p>
  return (
    <div className="log-box service-log" tabIndex={0} role="log" aria-label={t('job.log')}>
      {found.data.lines.map((line, i) => (
        <div key={i} className={`log-line log-${line.stream}`}>
          <span className="log-time">{clock(Date.parse(line.at), true, language)}</span>
          <span className="log-time">{`${line.version} #${line.job}`}</span>
          <span>{line.text}</span>
        </div>
      ))}
    </div>
  )
}
