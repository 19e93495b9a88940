import { useQuery } from '@tanstack/react-query'
import { Input } from 'antd'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { requestUrl } from '../../app/links'
import { request } from '../../api/client'
import type { operations } from '../../api/schema'
import { RefLink } from '../../components/FieldValue'
import { ErrorState, Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { LineageGraph } from './LineageGraph'

type Answered = Required<operations['get_requests_request']['responses'][200]['content']['application/json']>

/** From the id of a service's answer to what made it. */
export function RequestLineage({ id }: { id: string }) {
  const { t, n } = useI18n()
  const found = useQuery({ queryKey: ['request', id], queryFn: ({ signal }) => request<Answered>(`/requests/${encodeURIComponent(id)}`, { signal }), retry: false })
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton n={1} />
  const { service, version, status, took_us: took, at } = found.data
  return (
    <>
      <p>
        <RefLink kindName="service" value={{ id: service, name: found.data.service_name }} /> {found.data.version_name}
        <span className="muted num"> · {status} · {t('lineage.took', { ms: n(took / 1000, 1) })} · <Time at={at} /></span>
      </p>
      {version ? <LineageGraph kind="service_version" id={version} /> : <p className="note">{t('lineage.unanswered')}</p>}
    </>
  )
}

/** Where one puts the id of an answer. */
export function FindRequest() {
  const { t } = useI18n()
  const { project } = useApp()
  const navigate = useNavigate()
  if (!project) return null
  return (
    <p className="find-request">
      <Input.Search allowClear enterButton={t('lineage.findAnswer')} placeholder={t('lineage.answer')} aria-label={t('lineage.answer')} maxLength={100} onSearch={(id) => { if (id.trim()) void navigate(requestUrl(project.name, id.trim())) }} />
    </p>
  )
}
