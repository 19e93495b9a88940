import { useApp } from '../../app/context'
import type { Item } from '../../api/kinds'
import { may } from '../../api/session'
import { CopyText } from '../../components/CopyText'
import { formatBytes } from '../../components/format'
import { ScriptLog } from '../../components/ScriptLog'
import { useI18n, type Key } from '../../i18n'
import { Facts } from '../objects/ObjectTabs'
import type { SpecialProps } from '../objects/special'
import { TaskProgress } from '../tasks/TaskView'
import { useTask } from '../tasks/tasks'
import { costOf, texts } from './runtimes'
import './runtimes.css'

const steps: Record<string, Key | undefined> = { fetching: 'runtime.fetching', configuring: 'runtime.configuring', storing: 'runtime.storing' }

const hidden = ['name', 'title', 'title_zh', 'description', 'description_zh', 'state', 'phase', 'reason', 'reason_zh', 'image', 'packages', 'python', 'task', 'bytes', 'minutes']

/** A runtime: what it is, what it costs or where it is, how far its build is, what is in it, what the build said. */
export function RuntimeOverview({ kind, item }: SpecialProps) {
  const { t, language, sentence } = useI18n()
  const { session } = useApp()
  const builds = may(session, 'runtime.build')
  const building = item['state'] === 'building'
  const said = String((language === 'zh' && item['description_zh']) || item['description'] || '')
  const reason = String(item['reason'] ?? '')
  return (
    <div className="summary">
      {said && <p>{said}</p>}
      {reason && <p className="field-error" role="alert">{sentence(reason, item['reason_zh'] as string | null)}</p>}
      <State item={item} builds={builds} />
      {building && builds && typeof item['task'] === 'number' && <Building id={item['task']} />}
      <Packages title={t('runtime.packages')} names={texts(item['packages'])} />
      <Packages title={t('runtime.python')} names={texts(item['python'])} />
      <Facts brief kind={{ ...kind, fields: kind.fields.filter((f) => !hidden.includes(f.name)) }} item={item} />
      {builds && <ScriptLog path={`/runtimes/${item.id}/log`} title={t('runtime.log')} none={t('runtime.noLog')} growing={building} />}
    </div>
  )
}

function State({ item, builds }: { item: Item; builds: boolean }) {
  const { t, n } = useI18n()
  const state = String(item['state'])
  const phase = item['phase']
  const image = String(item['image'] ?? '')
  const cost = costOf(item)
  return (
    <section>
      {state === 'building' && <p role="status">{t(steps[String(phase)] ?? 'runtime.waiting')}</p>}
      {image !== '' && <><p>{t('runtime.use')}</p><CopyText text={image} label={t('images.use')} /></>}
      {image === '' && state !== 'building' && (
        <p>
          {cost ? t('runtime.cost', { bytes: formatBytes(cost.bytes), minutes: n(Math.ceil(cost.minutes)) }) : t('runtime.noCost')}{' '}
          {builds ? t('runtime.buildIt') : t('runtime.askFor')}
        </p>
      )}
    </section>
  )
}

function Building({ id }: { id: number }) {
  const task = useTask(id)
  return task.data ? <TaskProgress task={task.data} /> : null
}

function Packages({ title, names }: { title: string; names: string[] }) {
  if (names.length === 0) return null
  return (
    <section>
      <h2>{title}</h2>
      <ul className="runtime-packages" aria-label={title}>{names.map((name) => <li key={name}><code>{name}</code></li>)}</ul>
    </section>
  )
}
