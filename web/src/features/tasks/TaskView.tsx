import { useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button } from 'antd'
import { useEffect } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { versionUrl } from '../../app/links'
import { apiUrl, request, send } from '../../api/client'
import { invalidate } from '../../api/objects'
import { RefLink } from '../../components/FieldValue'
import { formatBytes, formatDuration } from '../../components/format'
import { useNow } from '../../components/hooks'
import { isRef } from '../../components/names'
import { problemText } from '../../components/problem'
import { Bar } from './Bar'
import { useI18n } from '../../i18n'
import { Facts } from '../objects/ObjectTabs'
import type { SpecialProps } from '../objects/special'
import { isMade, isOver, parseReport, progressOf, taskName, useTask, type Task } from './tasks'
import './tasks.css'

const shownLines = 200

/** Types of tasks that count bytes. */
const inBytes = ['environment_keep', 'runtime_build', 'runtime_export', 'runtime_import']

/** Says how far a task is, and offers to stop it. */
export function TaskProgress({ task, compact }: { task: Task; compact?: boolean }) {
  const i18n = useI18n()
  const { t, n, language, sentence } = i18n
  const { message } = App.useApp()
  const client = useQueryClient()
  const now = useNow()
  const over = isOver(task)
  const seconds = task.started_at ? (Math.max(now, Date.now() - 1000) - Date.parse(task.started_at)) / 1000 : 0
  // An import first counts bytes of its source, then samples: only its share says anything.
  const inParts = task.type === 'import'
  const { share, left, perSecond } = progressOf(task.done ?? 0, task.total ?? 0, seconds)
  const amount = inBytes.includes(task.type) ? (value: number) => formatBytes(value) : n
  const said = [
    ...(share === null || (inParts && over) ? [] : [inParts ? `${n(Math.floor(share * 100))}%` : `${amount(task.done ?? 0)} / ${amount(task.total ?? 0)}`]),
    ...(over || inParts || left === null || perSecond === null ? [] : [t('task.rate', { n: amount(perSecond, perSecond < 10 ? 1 : 0) })]),
    ...(over || left === null ? [] : [t('task.left', { time: formatDuration(left, language) })]),
    ...((task.problems ?? 0) > 0 ? [t('task.problems', { n: n(task.problems ?? 0) })] : []),
  ]
  const cancel = async () => {
    try {
      await request(`/tasks/${task.id}/cancel`, { method: 'POST', body: {} })
    } catch (error) {
      void message.error(problemText(error, i18n))
    }
    await invalidate(client, 'task')
  }
  return (
    <div className="task-progress">
      {!over && <Bar share={task.state === 'waiting' ? 0 : share} label={taskName(task.name, task.name_zh, language)} />}
      <div className="row wrap">
        <span className={`tag task-${task.state}`}>{t(`task.${task.state}`)}</span>
        <span className="muted num">{said.join(' · ')}</span>
        <span className="grow" />
        {!over && <Button size="small" onClick={() => void cancel()}>{t('form.cancel')}</Button>}
        {!compact && task.output && <Button type="primary" href={apiUrl(`/tasks/${task.id}/download`)} download>{t('task.download', { name: task.output_name ?? '' })}</Button>}
      </div>
      {task.state === 'failed' && task.message && <p className="field-error" role="alert">{sentence(task.message, task.message_zh)}</p>}
    </div>
  )
}

function Report({ task }: { task: Task }) {
  const { t, n, sentence } = useI18n()
  const report = useQuery({
    queryKey: ['task-report', task.id, task.report],
    queryFn: async ({ signal }) => {
      const answer = await send(apiUrl(`/tasks/${task.id}/report`), { signal, headers: { Range: 'bytes=0-262143' } })
      return answer.ok ? parseReport(await answer.text()) : []
    },
    enabled: task.report !== null && task.report !== '',
    staleTime: Infinity,
  })
  const lines = report.data ?? []
  if (lines.length === 0) return null
  return (
    <section className="block">
      <div className="section-head">
        <h2>{t('task.report')}</h2>
        <span className="muted">{t('task.reportHint')}</span>
        <span className="grow" />
        <Button size="small" href={apiUrl(`/tasks/${task.id}/report`)} download>{t('task.downloadReport')}</Button>
      </div>
      <div className="table-box">
        <table className="table report">
          <thead><tr><th scope="col">{t('task.file')}</th><th scope="col">{t('task.position')}</th><th scope="col">{t('task.reason')}</th></tr></thead>
          <tbody>{lines.slice(0, shownLines).map((line, i) => <tr key={i}><td>{line.file}</td><td>{line.position}</td><td>{sentence(line.reason, line.reason_zh)}</td></tr>)}</tbody>
        </table>
      </div>
      {(task.problems ?? 0) > shownLines && <p className="muted">{t('value.more', { n: n((task.problems ?? 0) - shownLines) })}</p>}
    </section>
  )
}

/** The version that the task made, where its result names one. */
function Made({ value }: { value: unknown }) {
  const { t } = useI18n()
  const { project, kind } = useApp()
  if (!isMade(value)) return null
  const parent = kind(kind(value.kind)?.parent ?? '')
  const number = Number(/\d+$/.exec(value.version.name)?.[0])
  return parent && number ? <p>{t('task.made')} <Link to={versionUrl(parent, value.set.id, number, project)}>{value.set.name} {value.version.name}</Link></p> : null
}

const counts = ['samples', 'records', 'files', 'shards', 'added', 'changed', 'same', 'annotations', 'kept', 'replaced', 'waiting', 'skipped', 'repaired'] as const

/** A task from beginning to report. */
export function TaskView({ id, onOver }: { id: number; onOver?: (task: Task) => void }) {
  const { t, n } = useI18n()
  const found = useTask(id)
  const task = found.data
  const over = task !== undefined && isOver(task)
  useEffect(() => {
    if (over && task) onOver?.(task)
    // Told once, when it ends.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [over])
  if (!task) return null
  const result = task.result ?? {}
  const told = counts.filter((name) => typeof result[name] === 'number')
  return (
    <div className="task">
      <TaskProgress task={task} />
      {over && told.length > 0 && (
        <dl className="facts facts-small">
          {told.map((name) => <div key={name}><dt>{t(`task.result.${name}`)}</dt><dd className="num">{n(Number(result[name]))}</dd></div>)}
          {typeof result['bytes'] === 'number' && <div><dt>{t('versions.size')}</dt><dd className="num">{formatBytes(result['bytes'])}</dd></div>}
        </dl>
      )}
      {over && <Made value={result['made']} />}
      {over && <Report task={task} />}
    </div>
  )
}

export function TaskOverview({ kind, item }: SpecialProps) {
  const { t, w } = useI18n()
  const params = item['params']
  const hasParams = typeof params === 'object' && params !== null && Object.keys(params).length > 0
  return (
    <div className="summary">
      {isRef(item['about']) && <dl className="facts facts-small"><div><dt>{w(kind.fields.find((f) => f.name === 'about')?.title)}</dt><dd><RefLink kindName={String(item['subject_kind'])} value={item['about']} project={item.project ?? null} /></dd></div></dl>}
      <TaskView id={item.id} />
      <Facts brief kind={{ ...kind, fields: kind.fields.filter((f) => !['name', 'name_zh', 'state', 'done', 'total', 'problems', 'message', 'report', 'output', 'output_name', 'cancel', 'subject', 'subject_kind', 'about', 'params', 'result'].includes(f.name)) }} item={item} />
      {hasParams && <details><summary>{t('task.params')}</summary><pre>{JSON.stringify(params, null, 2)}</pre></details>}
    </div>
  )
}
