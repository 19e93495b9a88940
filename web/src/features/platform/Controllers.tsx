import { useQuery } from '@tanstack/react-query'
import { App, Button, Tag } from 'antd'
import { useState } from 'react'
import { request, type Schema } from '../../api/client'
import { may } from '../../api/session'
import { useApp } from '../../app/context'
import { ForbiddenPage, ProblemPage } from '../../app/pages'
import { clock } from '../../components/Chart'
import { formatMoment } from '../../components/format'
import { useTitle } from '../../components/hooks'
import { problemText } from '../../components/problem'
import { Time } from '../../components/Time'
import { Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { IntervalPicker } from '../jobs/Curves'

type Row = Schema<'Controllers'>['items'][number]

const colors: Record<Row['state'], string | undefined> = { waiting: undefined, running: 'processing', failed: 'error' }

function Failure({ row }: { row: Row }) {
  if (!row.error) return null
  return <>{row.error} <span className="muted"><Time at={row.failed_at} /></span></>
}

/** Has one run soon instead of at its next time. */
function RunNow({ row, onRun }: { row: Row; onRun: () => void }) {
  const i18n = useI18n()
  const { t } = i18n
  const { message } = App.useApp()
  const [busy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    try {
      await request(`/controllers/${encodeURIComponent(row.name)}/run`, { method: 'POST' })
      onRun()
    } catch (error) {
      void message.error(problemText(error, i18n))
    } finally {
      setBusy(false)
    }
  }
  return <Button size="small" disabled={busy} aria-label={`${t('controllers.run')}: ${row.name}`} onClick={() => void run()}>{t('controllers.run')}</Button>
}

/** What the platform does by itself: when it ran last, how long that took, what failed. */
export function Controllers() {
  const { t, n, w, language } = useI18n()
  const { session } = useApp()
  const [every, setEvery] = useState(5000)
  const allowed = may(session, 'platform.metrics')
  const mayRun = may(session, 'platform.controllers')
  useTitle(t('controllers.title'))
  const found = useQuery({
    queryKey: ['controllers'],
    queryFn: ({ signal }) => request<Schema<'Controllers'>>('/controllers', { signal }),
    enabled: allowed,
    refetchInterval: every > 0 ? every : false,
  })
  const took = (us: number) => (us < 1e6 ? `${n(us / 1000, us < 10_000 ? 1 : 0)} ms` : formatMoment(us / 1e6, language))
  if (!allowed) return <ForbiddenPage permission="platform.metrics" />
  if (found.error && !found.data) return <ProblemPage error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton />
  return (
    <article className="detail">
      <header className="detail-head">
        <h1>{t('controllers.title')}</h1>
        <span className="muted num" role="status">{t('chart.updated', { time: clock(found.dataUpdatedAt, true, language) })}</span>
        <IntervalPicker value={every} onChange={setEvery} choices={[5000, 30_000, 0]} />
      </header>
      <div className="table-box">
        <table className="table">
          <thead>
            <tr>
              {(['name', 'does', 'state', 'last', 'took', 'next', 'runs', 'failures', 'error'] as const).map((column) => <th key={column} scope="col">{t(`controllers.${column}`)}</th>)}
              {mayRun && <th scope="col"><span className="visually-hidden">{t('controllers.run')}</span></th>}
            </tr>
          </thead>
          <tbody>
            {found.data.items.map((row) => (
              <tr key={row.name}>
                <td><code>{row.name}</code></td>
                <td>{w(row.title)}</td>
                <td><Tag color={colors[row.state]}>{t(`controllers.state.${row.state}`)}</Tag></td>
                <td><Time at={row.last_at} /></td>
                <td className="num">{row.runs ? took(row.took_us) : ''}</td>
                <td>{row.next_at ? <Time at={row.next_at} exact /> : ''}</td>
                <td className="num">{n(row.runs)}</td>
                <td className="num">{n(row.failures)}</td>
                <td><Failure row={row} /></td>
                {mayRun && <td><RunNow row={row} onRun={() => void found.refetch()} /></td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </article>
  )
}
