import { Button, Select } from 'antd'
import { useState } from 'react'
import { useApp } from '../../app/context'
import type { Schema } from '../../api/client'
import type { Item, Ref } from '../../api/kinds'
import { useItem } from '../../api/objects'
import { may } from '../../api/session'
import { RefLink } from '../../components/FieldValue'
import { absoluteTime, formatDuration } from '../../components/format'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { progressCsvUrl, refsOf, useProgress, type MemberFigures, type Progress } from './labelling'
import { dayOf, ratioOf } from './model'
import { Raise } from './TaskDialogs'

const spans = [1, 7, 30] as const

/** Who did how much, how fast, and when the rest is done. Days are the reader's own. */
export function Members({ task }: { task: Item }) {
  const { t } = useI18n()
  const [days, setDays] = useState<number>(1)
  const [today] = useState(() => Date.now())
  const [from, to] = [dayOf(today, 1 - days), dayOf(today, 1)]
  const found = useProgress(task.id, from, to)
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const data = found.data
  return (
    <div className="summary task-members">
      {data && <Outlook forecast={data.forecast} />}
      <section>
        <div className="section-head">
          <h2>{t('labelTask.members')}</h2>
          <Select aria-label={t('labelTask.span')} value={days} onChange={setDays} popupMatchSelectWidth={false} options={spans.map((n) => ({ value: n, label: n === 1 ? t('labelTask.today') : t('labelTask.days', { n }) }))} />
          <Button href={progressCsvUrl(task.id, from, to)} download={`${String(task['name'])}.csv`}>{t('labelTask.csv')}</Button>
        </div>
        {!data ? <Skeleton n={2} /> : <Figures task={task} data={data} />}
      </section>
      {data && days > 1 && data.days.length > 0 && <Days data={data} />}
    </div>
  )
}

function Outlook({ forecast }: { forecast: Progress['forecast'] }) {
  const { t, n } = useI18n()
  const { left, per_day: pace, ends_at: ends, deadline, late } = forecast
  return (
    <dl className="facts">
      <div><dt>{t('labelTask.left')}</dt><dd className="num">{n(left)}</dd></div>
      <div><dt>{t('labelTask.pace')}</dt><dd className="num">{pace > 0 ? t('labelTask.perDay', { n: n(pace, pace < 10 ? 1 : 0) }) : t('value.none')}</dd></div>
      <div><dt>{t('labelTask.ends')}</dt><dd>{left === 0 ? t('labelTask.allDone') : ends ? <Time at={ends} /> : t('labelTask.unknown')}</dd></div>
      <div><dt>{t('labelTask.deadline')}</dt><dd>{deadline ? <><Time at={deadline} /> {left > 0 && <span className={late ? 'tag tag-late' : 'tag tag-ok'}>{t(late ? 'labelTask.late' : 'labelTask.inTime')}</span>}</> : <span className="muted">{t('value.none')}</span>}</dd></div>
    </dl>
  )
}

/** Everybody of the labelling team, whether they did something or not: the owner may want to see more of anybody's work. */
function Figures({ task, data }: { task: Item; data: Progress }) {
  const { t, n, language } = useI18n()
  const { session, kind, project } = useApp()
  const [raising, setRaising] = useState<Schema<'Reference'> | null>(null)
  const team = useItem(kind('team'), { project: project?.id }, (task['labelling_team'] as Ref | null)?.id ?? NaN)
  const idle = refsOf(team.data?.['members']).filter((one) => !data.members.some((m) => m.user.id === one.id && m.stage === 'label'))
  const rows: MemberFigures[] = [...data.members, ...idle.map((user): MemberFigures => ({ user, stage: 'label', submitted: 0, skipped: 0, accepted: 0, rejected: 0, active_seconds: 0, per_hour: 0 }))]
  // Where several label a sample, all of it is reviewed; without a review team, nothing.
  const raisable = task['review_team'] !== null && Number(task['seats']) === 1 && ['draft', 'open', 'paused'].includes(String(task['state'])) && may(session, 'label_task.open', project?.id)
  if (rows.length === 0) return <Empty title={t('labelTask.nobody')} text={t('labelTask.nobodyHint')} />
  return (
    <div className="table-box">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t('labelTask.member')}</th><th scope="col">{t('labelTask.stage')}</th><th scope="col" className="right">{t('labelTask.reviewed')}</th>
            {(['submitted', 'accepted', 'rejected', 'skipped'] as const).map((name) => <th key={name} scope="col" className="right">{t(`labelCount.${name}`)}</th>)}
            <th scope="col" className="right">{t('labelTask.active')}</th><th scope="col" className="right">{t('labelTask.speed')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((m) => (
            <tr key={`${m.user.id}-${m.stage}`}>
              <td className="first"><RefLink kindName="user" value={m.user} /></td><td>{t(`labelStage.${m.stage}`)}</td>
              <td className="right num">{m.stage === 'label' && <Reviewed task={task} user={m.user} onRaise={raisable ? () => setRaising(m.user) : null} />}</td>
              {(['submitted', 'accepted', 'rejected', 'skipped'] as const).map((name) => <td key={name} className="right num">{n(m[name])}</td>)}
              <td className="right num">{formatDuration(m.active_seconds, language)}</td>
              <td className="right num">{m.per_hour > 0 ? t('labelTask.perHour', { n: n(m.per_hour, 0) }) : t('value.none')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {raising && <Raise task={task} user={raising} onClose={() => setRaising(null)} />}
    </div>
  )
}

/** How much of a person's work is reviewed, and a way to see more of it. */
function Reviewed({ task, user, onRaise }: { task: Item; user: Schema<'Reference'>; onRaise: (() => void) | null }) {
  const { t } = useI18n()
  const ratio = ratioOf(task, user.id)
  if (ratio === null) return <span className="muted">{t('value.none')}</span>
  const text = t('labelTask.percent', { n: ratio })
  const raised = Number(task['seats']) === 1 && ratio > Number(task['review_ratio'])
  return (
    <span className="reviewed">
      {raised && <span className="tag">{t('labelTask.raised')}</span>}
      {onRaise ? <Button size="small" aria-label={`${text} · ${t('labelTask.raiseOf', { name: user.name ?? '' })}`} title={t('labelTask.raise')} onClick={onRaise}>{text}</Button> : text}
    </span>
  )
}

function Days({ data }: { data: Progress }) {
  const { t, n, language } = useI18n()
  const most = Math.max(1, ...data.days.map((d) => d.submitted))
  return (
    <section className="block">
      <h2>{t('labelTask.perDayTitle')}</h2>
      <table className="bars" aria-label={t('labelTask.perDayTitle')}>
        <tbody>
          {data.days.map((d) => (
            <tr key={`${d.day}-${d.stage}`}>
              <th scope="row" title={absoluteTime(Date.parse(d.day), language)}>{new Date(d.day).toLocaleDateString(language === 'zh' ? 'zh-CN' : 'en-GB', { day: 'numeric', month: 'short' })} <span className="muted">{t(`labelStage.${d.stage}`)}</span></th>
              <td className="bars-line">{d.submitted > 0 && <div className="bars-bar" style={{ width: `${(d.submitted / most) * 100}%` }} />}</td>
              <td className="right num">{n(d.submitted)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
