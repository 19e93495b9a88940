import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { listUrl } from '../../app/links'
import type { Item } from '../../api/kinds'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { useProjectHome, type ProjectHome as Home } from './home'
import { BestModels, NewestModels } from './Models'
import './overview.css'
import { ProjectUse } from './ProjectUse'
import { Steps } from './Steps'
import { Failures, Part, Running, Waiting } from './Things'
import { Changes, LabellingTasks, MyWork, Services } from './Work'

/** The first page of a project: what goes on, what needs somebody, what there is, and what comes next. */
export function ProjectHome({ item }: { item: Item }) {
  const found = useProjectHome(item.id)
  const home = found.data
  if (found.error && !home) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!home) return <Skeleton />
  const empty = home.steps.every((step) => !step.done) && home.changes?.every((change) => ['project', 'member'].includes(change.kind)) === true
  return (
    <div className="home">
      <Counts counts={home.counts} />
      <Steps project={item.id} steps={home.steps} />
      {!empty && <Parts home={home} />}
      <ProjectUse item={item} />
    </div>
  )
}

function Parts({ home }: { home: Home }) {
  const { t } = useI18n()
  const mine = home.mine && (home.mine.tasks.length > 0 || home.mine.reviews.items.length > 0) ? home.mine : null
  const models = [...(home.best ?? []), ...(home.newest ?? [])].length > 0
  return (
    <div className="home-columns">
      <div>
        {mine && <Part name="mine" title={t('home.mine')}><MyWork mine={mine} /></Part>}
        {home.running && <Part name="running" title={t('home.running')} total={home.running.total}><Running items={home.running.items} /></Part>}
        {home.waiting && home.waiting.total > 0 && <Part name="waiting" title={t('home.waiting')} total={home.waiting.total}><Waiting items={home.waiting.items} /></Part>}
        {home.failed && <Part name="failed" title={t('home.failed')}><Failures items={home.failed} /></Part>}
        {models && (
          <Part name="models" title={t('home.models')}>
            <BestModels items={home.best ?? []} />
            <NewestModels items={home.newest ?? []} />
          </Part>
        )}
      </div>
      <div>
        {home.services && home.services.length > 0 && <Part name="services" title={t('home.services')}><Services items={home.services} /></Part>}
        {home.labelling && home.labelling.length > 0 && <Part name="labelling" title={t('home.labelling')}><LabellingTasks items={home.labelling} /></Part>}
        {home.changes && home.changes.length > 0 && <Part name="changes" title={t('home.changes')}><Changes items={home.changes} /></Part>}
      </div>
    </div>
  )
}

/** The server counts to this. */
const counted = 10_000

/** What there is, in a line; each count leads to its list. */
function Counts({ counts }: { counts: Home['counts'] }) {
  const { w, n } = useI18n()
  const { kinds, project } = useApp()
  const shown = kinds.flatMap((kind) => {
    const count = counts[kind.name]
    const url = kind.name === 'member' ? `?tab=${kind.plural}` : listUrl(kind, project)
    return count && url ? [{ kind, count, url }] : []
  })
  if (shown.length === 0) return null
  return (
    <ul className="home-counts">
      {shown.map(({ kind, count, url }) => <li key={kind.name}><Link to={url}><b className="num">{count > counted ? `${n(counted)}+` : n(count)}</b> {w(count === 1 ? kind.title : kind.titles)}</Link></li>)}
    </ul>
  )
}
