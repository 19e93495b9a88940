import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Button, Input, Select, Tag } from 'antd'
import { useDeferredValue, useState } from 'react'
import { request, type Schema } from '../../api/client'
import { may } from '../../api/session'
import { useApp } from '../../app/context'
import { ForbiddenPage, ProblemPage } from '../../app/pages'
import { clock } from '../../components/Chart'
import { useTitle } from '../../components/hooks'
import { Empty, Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { IntervalPicker } from '../jobs/Curves'

type Level = Schema<'PlatformLog'>['lines'][number]['level']

const levels = ['debug', 'info', 'warn', 'error'] as const
const colors: Record<Level, string | undefined> = { debug: undefined, info: undefined, warn: 'warning', error: 'error' }
const first = 200
const most = 1000

/** What the server has to say, the newest first. */
export function PlatformLog() {
  const { t, language } = useI18n()
  const { session } = useApp()
  const [level, setLevel] = useState<Level>('info')
  const [text, setText] = useState('')
  const [limit, setLimit] = useState(first)
  const [every, setEvery] = useState(5000)
  const q = useDeferredValue(text.trim())
  const allowed = may(session, 'platform.log')
  useTitle(t('platformLog.title'))
  const found = useQuery({
    queryKey: ['platform-log', level, q, limit],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => request<Schema<'PlatformLog'>>('/log', { query: { level, limit, ...(q ? { q } : {}) }, signal }),
    enabled: allowed,
    refetchInterval: every > 0 ? every : false,
  })
  if (!allowed) return <ForbiddenPage permission="platform.log" />
  if (found.error && !found.data) return <ProblemPage error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton />
  const lines = [...found.data.lines].reverse()
  return (
    <article className="detail">
      <header className="detail-head">
        <h1>{t('platformLog.title')}</h1>
        <span className="muted num" role="status">{t('chart.updated', { time: clock(found.dataUpdatedAt, true, language) })}</span>
        <IntervalPicker value={every} onChange={setEvery} choices={[5000, 30_000, 0]} />
      </header>
      <div className="tools">
        <Input.Search aria-label={t('log.search')} placeholder={t('log.search')} allowClear maxLength={200} value={text} onChange={(e) => setText(e.target.value)} style={{ maxWidth: 320 }} />
        <Select aria-label={t('platformLog.level')} value={level} onChange={setLevel} popupMatchSelectWidth={false} options={levels.map((name) => ({ value: name, label: t('platformLog.least', { level: name }) }))} />
      </div>
      {lines.length === 0 ? <Empty title={t('log.noMatch')} /> : (
        <div className="table-box">
          <table className="table">
            <thead><tr><th scope="col">{t('job.at')}</th><th scope="col">{t('platformLog.level')}</th><th scope="col">{t('platformLog.thread')}</th><th scope="col">{t('platformLog.text')}</th></tr></thead>
            <tbody>
              {lines.map((line) => (
                <tr key={line.place}>
                  <td className="num"><Time at={line.at} /></td>
                  <td><Tag color={colors[line.level]}>{line.level}</Tag></td>
                  <td><code className="muted">{line.thread}</code></td>
                  <td>{line.text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {found.data.lines.length === limit && limit < most && <Button onClick={() => setLimit(most)}>{t('platformLog.more')}</Button>}
    </article>
  )
}
