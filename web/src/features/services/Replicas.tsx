import { Button } from 'antd'
import { Link, useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import { ErrorState, Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { StateTag } from '../jobs/State'
import { useReplicas, useServiceEvents } from './services'

/** The containers behind a service; each leads to its job with log, curves and terminal. */
export function Replicas({ service }: { service: number }) {
  const { t, language } = useI18n()
  const { project, kind: byName } = useApp()
  const navigate = useNavigate()
  const found = useReplicas(service)
  const jobs = byName('job')
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton n={2} />
  return (
    <div className="table-box">
      <table className="table events">
        <thead><tr><th scope="col">{t('service.replica')}</th><th scope="col">{t('service.version')}</th><th scope="col">{t('job.state')}</th><th scope="col">{t('job.at')}</th><th scope="col">{t('job.reason')}</th><th aria-hidden="true" /></tr></thead>
        <tbody>
          {found.data.map((r) => (
            <tr key={r.job}>
              <td>{jobs ? <Link to={itemUrl(jobs, r.job, project) ?? '/'}>{`#${r.job}`}</Link> : `#${r.job}`}</td>
              <td>{r.version_name} <span className="muted">{r.role === 'production' || r.role === 'canary' ? t(`service.role.${r.role}`) : ''}</span></td>
              <td><StateTag state={r.state} /></td>
              <td><Time at={r.since} /></td>
              <td>{(language === 'zh' && r.reason_zh) || r.reason || t('value.none')}</td>
              <td className="right">{jobs && r.job_state === 'running' && <Button size="small" onClick={() => void navigate(`${itemUrl(jobs, r.job, project) ?? '/'}?tab=terminal`)}>{t('service.terminal')}</Button>}</td>
            </tr>
          ))}
          {found.data.length === 0 && <tr><td colSpan={6} className="muted">{t('service.noReplicas')}</td></tr>}
        </tbody>
      </table>
    </div>
  )
}

export function ServiceEvents({ service }: { service: number }) {
  const { t, language } = useI18n()
  const found = useServiceEvents(service)
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton n={2} />
  return (
    <div className="table-box">
      <table className="table events">
        <thead><tr><th scope="col">{t('job.at')}</th><th scope="col">{t('service.version')}</th><th scope="col">{t('service.happened')}</th></tr></thead>
        <tbody>
          {found.data.map((e, i) => <tr key={i}><td><Time at={e.at} /></td><td>{e.version ?? t('value.none')}</td><td>{(language === 'zh' && e.reason_zh) || e.reason}</td></tr>)}
          {found.data.length === 0 && <tr><td colSpan={3} className="muted">{t('job.noEvents')}</td></tr>}
        </tbody>
      </table>
    </div>
  )
}
