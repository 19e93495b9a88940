import { useQuery } from '@tanstack/react-query'
import { apiUrl, request } from '../../api/client'
import { CopyText } from '../../components/CopyText'
import { ErrorState, Skeleton } from '../../components/States'
import { isKey, useI18n } from '../../i18n'
import { operationsOf } from './interface'
import './services.css'

/** What a service takes and answers, from its OpenAPI document. */
export function Interface({ service }: { service: number }) {
  const { t } = useI18n()
  const found = useQuery({ queryKey: ['objects', 'service', 'interface', service], queryFn: ({ signal }) => request<unknown>(`/services/${service}/openapi.json`, { signal }) })
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton n={2} />
  return (
    <section className="service-interface">
      <p className="muted">{t('interface.text')} <a href={apiUrl(`/services/${service}/openapi.json`)}>{t('interface.document')}</a></p>
      {operationsOf(found.data).map((one, i) => {
        const key = `interface.op.${one.name}`
        return (
          <details key={`${one.method} ${one.path}`} open={i === 0}>
            <summary><code className="service-method">{one.method}</code> <code>{one.path}</code> <span className="muted">{isKey(key) ? t(key) : one.summary}</span></summary>
            {one.takes.length > 0 && <p><span className="muted">{t('interface.takes')}</span> {one.takes.map((type) => <code key={type}>{type}</code>)}</p>}
            <CopyText text={one.example} label={t('interface.example')} />
          </details>
        )
      })}
    </section>
  )
}
