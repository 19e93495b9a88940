import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl, versionUrl } from '../../app/links'
import { RefLink } from '../../components/FieldValue'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { useVerbTitle } from '../audit/verbs'
import { StateTag } from '../jobs/State'
import { benchUrl } from '../labelling/labelling'
import { TaskBar } from '../labelling/TaskBar'
import { shareDone } from '../labelling/model'
import { refOf, type PlatformHome, type ProjectHome } from './home'

type Service = NonNullable<PlatformHome['services']>[number]
type Labelling = NonNullable<PlatformHome['labelling']>[number]
type Mine = NonNullable<ProjectHome['mine']>
type Change = NonNullable<ProjectHome['changes']>[number]

/** How each is: its state and why, replicas, and what it answered in the last hour. */
export function Services({ items, away }: { items: readonly Service[]; away?: boolean }) {
  const { t, n, sentence } = useI18n()
  return (
    <ul className="home-list home-narrow">
      {items.map(({ service, requests, errors }) => {
        const project = refOf(service.project)
        const canary = service.canary ? t('home.canary', { share: n((service.share ?? 0) / 10, 1) }) : null
        return (
          <li key={service.id}>
            <StateTag state={service.state ?? 'stopped'} />
            <span className="home-name">
              <RefLink kindName="service" value={{ id: service.id, name: service.name }} project={project} />
              <span className="muted num">{[away ? project?.name : null, service.production ? t('home.replicas', { n: service.production }) : null, canary].filter(Boolean).join(' · ')}</span>
            </span>
            <span className={errors > 0 ? 'home-bad num' : 'muted num'}>{requests === 0 ? t('home.noRequests') : t(errors > 0 ? 'home.requestsErrors' : 'home.requests', { n: n(requests), errors: n(errors) })}</span>
            {service.reason && service.state !== 'serving' && service.state !== 'stopped' && <span className="home-why">{sentence(service.reason, service.reason_zh)}</span>}
          </li>
        )
      })}
    </ul>
  )
}

export function LabellingTasks({ items, away }: { items: readonly Labelling[]; away?: boolean }) {
  const { t, n } = useI18n()
  return (
    <ul className="home-list home-narrow">
      {items.map((row) => {
        const task = refOf(row.task)
        const project = refOf(row.project)
        const item = { ...row, id: row.task.id } as unknown as Parameters<typeof TaskBar>[0]['task']
        return (
          <li key={row.task.id} className="home-task">
            <span className="home-name">
              {task && <RefLink kindName="label_task" value={task} project={project} />}
              <span className="muted">{[away ? project?.name : null, row.state === 'paused' ? t('home.paused') : null].filter(Boolean).map((text) => `${text} · `)}{t('home.left', { n: n(Math.max(0, row.samples - row.labelled)) })}{row.deadline && <> · {t('labelTask.until')} <Time at={row.deadline} /></>}</span>
            </span>
            <span className="num muted">{t('labelTask.share', { share: Math.floor(shareDone(item) * 100), n: n(row.samples) })}</span>
            <TaskBar task={item} />
          </li>
        )
      })}
    </ul>
  )
}

/** What waits for this person: samples that came back first, then those that they hold, then what is left. */
export function MyWork({ mine }: { mine: Mine }) {
  const { t, n } = useI18n()
  const { kind, project } = useApp()
  const tasks = kind('label_task')
  const datasets = kind('dataset')
  return (
    <ul className="home-list">
      {tasks && mine.tasks.map((row) => (
        <li key={`${row.task.id}-${row.stage}`}>
          <span className="tag">{t(row.stage === 'label' ? 'labelTask.label' : 'labelTask.review')}</span>
          <span className="home-name">
            <Link to={benchUrl(itemUrl(tasks, row.task.id, project) ?? '', row.stage)}>{row.task.name}</Link>
            {row.deadline && <span className="muted">{t('labelTask.until')} <Time at={row.deadline} /></span>}
          </span>
          <span className="num muted">{[row.rejected > 0 ? t('home.cameBack', { n: n(row.rejected) }) : null, row.held > 0 ? t('home.held', { n: n(row.held) }) : null, t('home.left', { n: n(row.left) })].filter(Boolean).join(' · ')}</span>
        </li>
      ))}
      {datasets && mine.reviews.items.map((row) => (
        <li key={`review-${row.version.id}`}>
          <span className="tag">{t('home.publish')}</span>
          <span className="home-name"><Link to={versionUrl(datasets, row.dataset.id, Number(/\d+/.exec(row.version.name ?? '')?.[0]), project)}>{row.dataset.name} {row.version.name}</Link><span className="muted">{t('home.askedBy', { name: row.asked_by.name ?? '' })}</span></span>
          <span className="home-when"><Time at={row.asked_at} /></span>
        </li>
      ))}
    </ul>
  )
}

/** Who did what to which object, the newest first. */
export function Changes({ items }: { items: readonly Change[] }) {
  const { t, n, w, language } = useI18n()
  const { kind } = useApp()
  const verb = useVerbTitle()
  const lower = (text: string) => (language === 'en' ? text.charAt(0).toLowerCase() + text.slice(1) : text)
  return (
    <ul className="home-changes">
      {items.map((row) => {
        const object = refOf(row.object)
        const own = kind(row.kind)
        return (
          <li key={`${row.at}-${row.kind}-${row.verb}`}>
            <span className="home-name">
              <span>{object ? <RefLink kindName={row.kind} value={object} /> : row.times > 1 ? `${n(row.times)} ${w(own?.titles)}` : row.name ?? w(own?.title)}{object && row.times > 1 && <span className="muted"> {t('home.more', { n: n(row.times - 1) })}</span>}</span>
              <span className="muted">{w(row.times > 1 ? own?.titles : own?.title)} · {lower(verb(row.verb, row.kind))} · {row.by.name}</span>
            </span>
            <span className="home-when"><Time at={row.at} /></span>
          </li>
        )
      })}
    </ul>
  )
}
