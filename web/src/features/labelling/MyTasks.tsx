import { useQueries, useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useMemo } from 'react'
import { Link, useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { useKeys, type Shortcut } from '../../app/keys'
import { itemUrl, projectUrl } from '../../app/links'
import { ForbiddenPage } from '../../app/pages'
import { request, type Schema } from '../../api/client'
import type { Item, Kind } from '../../api/kinds'
import { allItems, useList } from '../../api/objects'
import { may, offers } from '../../api/session'
import { formatDuration } from '../../components/format'
import { useLatest, useTitle } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { MoreRows } from '../objects/MoreRows'
import { benchUrl, fetchWork } from './labelling'
import '../datasets/data.css'
import './labelling.css'
import { goOn, type Stage, type StageWork, type Work } from './model'
import { TaskBar } from './TaskBar'

/** The home of who labels or reviews: their tasks, and one button that goes on where they were. */
export function MyTasks() {
  const { t } = useI18n()
  const { kind, session, project } = useApp()
  const tasks = kind('label_task')
  useTitle(t('myTasks.title'), project?.name)
  if (!tasks || !project) return null
  if (!offers(session, tasks, 'list', project.id)) return <ForbiddenPage permission={tasks.permissions.list ?? tasks.permissions.read ?? null} />
  return <Mine kind={tasks} project={project.id} />
}

function Mine({ kind, project }: { kind: Kind; project: number }) {
  const { t, n } = useI18n()
  const { project: here, session } = useApp()
  const navigate = useNavigate()
  const list = useList(kind, { project }, { filter: 'state = "open"', sort: '-created_at' })
  const items = useMemo(() => allItems(list.data), [list.data])
  const works = useQueries({
    queries: items.map((item) => ({ queryKey: ['objects', 'label_task', 'work', item.id], queryFn: ({ signal }: { signal: AbortSignal }) => fetchWork(item.id, signal) })),
    combine: (results) => ({ data: results.map((r) => r.data), pending: results.some((r) => r.isPending) }),
  })
  const mine = items.flatMap((task, i) => {
    const work = works.data[i]
    return work && (work.label.mine || work.review.mine) ? [{ task, work }] : []
  })
  const next = works.pending ? null : goOn(mine)
  const start = useLatest((task: Item, stage: Stage) => {
    const url = itemUrl(kind, task.id, here)
    if (url) void navigate(benchUrl(url, stage))
  })
  const shortcuts = useMemo<Shortcut[]>(() => (next ? [{ keys: 'Enter', label: 'keys.continue', group: 'page', run: () => start(next.task, next.stage) }] : []), [next, start])
  useKeys(shortcuts)
  const today = mine.reduce((sum, { work }) => sum + work.label.submitted_today + work.review.submitted_today, 0)
  if (list.error && items.length === 0) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />
  const busy = list.isPending || works.pending
  return (
    <section className="my-tasks" aria-labelledby="page-title">
      <header className="page-head">
        <h1 id="page-title">{t('myTasks.title')}</h1>
        <p className="muted">{today > 0 ? t('myTasks.today', { n: n(today), name: session.user.name }) : t('myTasks.hello', { name: session.user.name })}</p>
      </header>
      {next && (
        <div className="go-on panel">
          <div>
            <p className="muted">{t(next.stage === 'label' ? 'myTasks.goOnLabel' : 'myTasks.goOnReview')}</p>
            <h2>{String(next.task['name'])}</h2>
          </div>
          <Button type="primary" size="large" autoFocus onClick={() => start(next.task, next.stage)}>{t('myTasks.continue')} <Icon name="chevron" size={14} /></Button>
        </div>
      )}
      {busy ? <Skeleton n={2} /> : mine.length === 0 ? <Empty title={t('myTasks.none')} text={t('myTasks.noneHint')} /> : (
        <ul className="task-cards">{mine.map(({ task, work }) => <Card key={task.id} task={task} work={work} onStart={start} />)}</ul>
      )}
      <MoreRows list={list} />
      {may(session, 'review.update', project) && <ToPublish project={project} />}
    </section>
  )
}

function Card({ task, work, onStart }: { task: Item; work: Work; onStart: (task: Item, stage: Stage) => void }) {
  const { t } = useI18n()
  return (
    <li className="task-card panel">
      <div className="card-title">
        <h2>{String(task['name'])}</h2>
        {work.deadline && <span className="muted">{t('labelTask.until')} <Time at={work.deadline} /></span>}
      </div>
      {typeof task['description'] === 'string' && task['description'] !== '' && <p className="muted pre">{task['description']}</p>}
      <TaskBar task={task} />
      {work.label.mine && <StageRow task={task} stage="label" work={work.label} onStart={onStart} />}
      {work.review.mine && <StageRow task={task} stage="review" work={work.review} onStart={onStart} />}
    </li>
  )
}

function StageRow({ task, stage, work, onStart }: { task: Item; stage: Stage; work: StageWork; onStart: (task: Item, stage: Stage) => void }) {
  const { t, n, language } = useI18n()
  const todo = work.left > 0 || work.leased > 0 || work.rejected > 0
  return (
    <div className="stage-row">
      <dl className="stage-facts">
        {work.rejected > 0 && <div className="came-back"><dt>{t('myTasks.rejected')}</dt><dd className="num">{n(work.rejected)}</dd></div>}
        <div><dt>{t('myTasks.leased')}</dt><dd className="num">{n(work.leased)}</dd></div>
        <div><dt>{t(stage === 'label' ? 'myTasks.left' : 'myTasks.leftReview')}</dt><dd className="num">{n(work.left)}</dd></div>
        <div><dt>{t('myTasks.doneToday')}</dt><dd className="num">{n(work.submitted_today)}{work.active_seconds_today > 0 && <span className="muted"> · {formatDuration(work.active_seconds_today, language)}</span>}</dd></div>
      </dl>
      <Button disabled={!todo} aria-label={t(stage === 'label' ? 'myTasks.labelOf' : 'myTasks.reviewOf', { name: String(task['name']) })} onClick={() => onStart(task, stage)}>{t(stage === 'label' ? 'labelTask.label' : 'labelTask.review')}</Button>
    </div>
  )
}

/** Versions whose publishing this person was asked about. */
function ToPublish({ project }: { project: number }) {
  const { t, n } = useI18n()
  const { project: here } = useApp()
  const found = useQuery({ queryKey: ['objects', 'dataset_version', 'to-review', project], queryFn: ({ signal }) => request<Schema<'PublishReviews'>>('/label-tasks/publish-reviews', { query: { project }, signal }) })
  const items = found.data?.items ?? []
  if (items.length === 0) return null
  return (
    <section className="block">
      <h2>{t('publishReview.waiting')}</h2>
      <ul className="reviews">
        {items.map((one) => (
          <li key={one.version.id} className="panel">
            <Link to={`${projectUrl(here?.name ?? '')}/publish-reviews/${one.dataset.id}/${one.version.id}`}>{one.dataset.name} {one.version.name}</Link>
            <span className="muted num">{t('versions.samples', { n: n(one.samples) })} · {one.asked_by?.name} · <Time at={one.asked_at} /></span>
          </li>
        ))}
      </ul>
    </section>
  )
}
