import { Button } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { projectUrl } from '../../app/links'
import type { Ref } from '../../api/kinds'
import { offers } from '../../api/session'
import { useNow } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import { Bar } from './Bar'
import { useUploads } from './uploadsOfTray'
import { TaskProgress } from './TaskView'
import './tasks.css'
import { isOver, taskName, useTasks, type Task } from './tasks'

/** How long what has ended stays to be seen. */
const stays = 5 * 60_000

/** What is being done in the project for this person, at the bottom right; not there when nothing is. What others do stands under
 * the background tasks. */
export function Tray({ project }: { project: Ref }) {
  const { session, kind } = useApp()
  const tasks = kind('task')
  return tasks && offers(session, tasks, 'list', project.id) ? <Loaded project={project} /> : null
}

function Loaded({ project }: { project: Ref }) {
  const { t, n } = useI18n()
  const now = useNow()
  const [open, setOpen] = useState(false)
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set())
  const found = useTasks(project.id, '', 20, true, true)
  const uploads = useUploads(project.id)
  const tasks = (found.data ?? []).filter((task) => !isOver(task) || (!hidden.has(task.id) && now - Date.parse(task.ended_at ?? task.updated_at) < stays))
  const busy = tasks.filter((task) => !isOver(task))
  const first = busy[0]
  if (tasks.length === 0 && uploads.length === 0) return null
  const active = busy.length + uploads.length
  const share = uploads[0]?.share ?? (first && (first.total ?? 0) > 0 ? (first.done ?? 0) / (first.total ?? 1) : null)
  return (
    <section className={open ? 'tray open' : 'tray'} aria-label={t('tray.title')}>
      <button type="button" className="tray-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={active > 0 ? 'refresh' : 'check'} size={14} />
        <span className="grow">{active > 0 ? t('tray.running', { n: n(active) }) : t('tray.recent', { n: n(tasks.length) })}</span>
        <span className={open ? 'turned-down' : 'turned-up'}><Icon name="chevron" size={12} /></span>
      </button>
      {!open && active > 0 && <Bar share={share} label={t('tray.title')} />}
      {open && (
        <ul className="tray-list">
          {uploads.map((u) => <li key={`u${u.id}`}><Link to={`${u.url}?tab=import`}>{t('tray.upload', { name: u.title })}</Link><Bar share={u.share} label={u.title} /></li>)}
          {tasks.map((task) => <Row key={task.id} task={task} project={project} onHide={() => setHidden((old) => new Set([...old, task.id]))} />)}
        </ul>
      )}
    </section>
  )
}

function Row({ task, project, onHide }: { task: Task; project: Ref; onHide: () => void }) {
  const { t, language } = useI18n()
  const name = taskName(task.name, task.name_zh, language)
  return (
    <li>
      <div className="row">
        <Link className="grow clip-line" to={`${projectUrl(project.name)}/tasks/${task.id}`} title={name}>{name}</Link>
        {isOver(task) && <Button type="text" size="small" aria-label={t('tray.hide', { name })} icon={<Icon name="close" size={12} />} onClick={onHide} />}
      </div>
      <TaskProgress task={task} compact />
    </li>
  )
}
