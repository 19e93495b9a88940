import { Link } from 'react-router'
import { projectUrl } from '../../app/links'
import { ProblemPage } from '../../app/pages'
import { clock } from '../../components/Chart'
import { absoluteTime, formatBytes } from '../../components/format'
import { useTitle } from '../../components/hooks'
import { RefreshPicker } from '../../components/Refresh'
import { Empty, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { DemoOffer } from '../demo/DemoOffer'
import { usePlatformHome, type PlatformHome as Home } from './home'
import { Meters } from './Meter'
import { NewestModels } from './Models'
import './overview.css'
import { Failures, Part, Running, Waiting } from './Things'
import { LabellingTasks, Services } from './Work'

/** The project of what comes with the platform: where there is no other, nobody has begun. */
const builtIn = 'built-in'

/** All projects that one sees at a glance: the load, what waits, what failed, who uses what, what came. */
export function PlatformHome() {
  const { t, language } = useI18n()
  const found = usePlatformHome()
  useTitle(t('home.platform'))
  if (found.error && !found.data) return <ProblemPage error={found.error} onRetry={() => void found.refetch()} />
  const home = found.data
  if (!home) return <Skeleton />
  return (
    <article className="detail">
      <header className="detail-head">
        <h1>{t('home.platform')}</h1>
        <span className="muted num" role="status">{t('chart.updated', { time: clock(found.dataUpdatedAt, true, language) })}</span>
        <RefreshPicker />
      </header>
      <div className="home">
        {home.projects.items.every((row) => row.project.name === builtIn) && <DemoOffer />}
        {home.load && <Load load={home.load} />}
        {home.projects.total === 0 ? <Empty title={t('project.noneTitle')} text={t('project.noneHint')} /> : <Parts home={home} />}
      </div>
    </article>
  )
}

function Load({ load }: { load: NonNullable<Home['load']> }) {
  const { t, n } = useI18n()
  const nodes = (['ready', 'drained', 'lost'] as const).filter((state) => load.nodes[state] > 0)
  return (
    <Part name="load" title={t('home.load')} more={<Link to="/admin/resources">{nodes.map((state) => t(`home.nodes.${state}`, { n: n(load.nodes[state]) })).join(' · ')}</Link>}>
      <Meters most={load.total} reserved={load.reserved} used={load.used} />
    </Part>
  )
}

function Parts({ home }: { home: Home }) {
  const { t } = useI18n()
  return (
    <>
      <div className="home-columns">
        <div>
          {home.running && <Part name="running" title={t('home.running')} total={home.running.total}><Running items={home.running.items} away /></Part>}
          {home.waiting && home.waiting.total > 0 && <Part name="waiting" title={t('home.waiting')} total={home.waiting.total}><Waiting items={home.waiting.items} away /></Part>}
          {home.failed && <Part name="failed" title={t('home.failed')}><Failures items={home.failed} away /></Part>}
        </div>
        <div>
          {home.services && home.services.length > 0 && <Part name="services" title={t('home.services')}><Services items={home.services} away /></Part>}
          {home.labelling && home.labelling.length > 0 && <Part name="labelling" title={t('home.labelling')}><LabellingTasks items={home.labelling} away /></Part>}
        </div>
      </div>
      <Part name="projects" title={t('home.projects')} total={home.projects.total}><Projects rows={home.projects.items} /></Part>
      {home.newest && home.newest.length > 0 && <Part name="newest" title={t('home.newModels')}><NewestModels items={home.newest} away /></Part>}
      {home.growth && <Part name="growth" title={t('home.growth')}><Growth days={home.growth} /></Part>}
    </>
  )
}

/** Where each figure leads. */
const lists = {
  running: 'jobs?state=running', waiting: 'jobs?state=queued', failed: 'jobs?state=failed', services: 'services', troubled: 'services?state=failed,degraded', models: 'model-sets', samples: 'datasets',
} as const

const columns = ['running', 'waiting', 'failed', 'services', 'troubled', 'models', 'samples'] as const

function Projects({ rows }: { rows: Home['projects']['items'] }) {
  const { t, n } = useI18n()
  return (
    <div className="table-box">
      <table className="table">
        <thead><tr><th scope="col">{t('resources.project')}</th>{columns.map((name) => <th key={name} scope="col" className="right">{t(`home.column.${name}`)}</th>)}<th scope="col" className="right">{t('home.column.cpus')}</th><th scope="col" className="right">{t('meter.storage')}</th></tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.project.id}>
              <td><Link to={projectUrl(row.project.name ?? '')}>{row.project.name}</Link></td>
              {columns.map((name) => <td key={name} className={row[name] > 0 && (name === 'failed' || name === 'troubled') ? 'right home-bad' : row[name] === 0 ? 'right muted' : 'right'}>{row[name] === 0 ? n(0) : <Link to={`${projectUrl(row.project.name ?? '')}/${lists[name]}`}>{n(row[name])}</Link>}</td>)}
              <td className="right">{`${n(row.used.cpus ?? 0, 2)} / ${n(row.reserved.cpus ?? 0, 2)}`}</td>
              <td className="right">{formatBytes(row.used.storage ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const growing = ['samples', 'labels', 'models', 'services'] as const

/** What came on each of the last days. */
function Growth({ days }: { days: NonNullable<Home['growth']> }) {
  const { t, n, language } = useI18n()
  return (
    <div className="home-growth">
      {growing.map((name) => {
        const most = Math.max(1, ...days.map((day) => day[name]))
        const sum = days.reduce((all, day) => all + day[name], 0)
        return (
          <div key={name}>
            <b className="num">{n(sum)}</b> <span className="muted">{t(`home.grown.${name}`)}</span>
            <div className="home-days" role="img" aria-label={t('home.days', { what: t(`home.grown.${name}`), n: n(sum), days: n(days.length) })}>
              {days.map((day) => <i key={day.at} style={{ height: `${(day[name] / most) * 100}%` }} title={`${absoluteTime(Date.parse(day.at), language).slice(0, 10)}: ${n(day[name])}`} />)}
            </div>
          </div>
        )
      })}
    </div>
  )
}
