import type { Item } from '../../api/kinds'
import { ErrorState, Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { useJobEvents } from './jobs'
import { StateTag } from './State'

export function Events({ job }: { job: Item }) {
  const { t, language } = useI18n()
  const events = useJobEvents(job.id)
  if (events.error) return <ErrorState error={events.error} onRetry={() => void events.refetch()} />
  if (!events.data) return <Skeleton n={2} />
  return (
    <div className="table-box">
      <table className="table events">
        <thead>
          <tr><th scope="col">{t('job.at')}</th><th scope="col">{t('job.state')}</th><th scope="col" className="right">{t('job.attempt')}</th><th scope="col">{t('job.reason')}</th></tr>
        </thead>
        <tbody>
          {events.data.map((e, i) => (
            <tr key={i}>
              <td><Time at={e.at} /></td>
              <td><StateTag state={e.state} /></td>
              <td className="right">{e.attempt || t('value.none')}</td>
              <td>{(language === 'zh' && e.reason_zh) || e.reason || t('value.none')}</td>
            </tr>
          ))}
          {events.data.length === 0 && <tr><td colSpan={4} className="muted">{t('job.noEvents')}</td></tr>}
        </tbody>
      </table>
    </div>
  )
}
