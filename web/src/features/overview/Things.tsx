import type { ReactNode } from 'react'
import { useApp } from '../../app/context'
import { RefLink } from '../../components/FieldValue'
import { absoluteTime } from '../../components/format'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { StateTag } from '../jobs/State'
import { Bar } from '../tasks/Bar'
import { refOf, type Thing } from './home'

/** A part of the page: what it is called, how many there are of it, and its rows. */
export function Part({ name, title, total, more, children }: { name: string; title: string; total?: number; more?: ReactNode; children: ReactNode }) {
  const { n } = useI18n()
  return (
    <section className="block home-part" data-part={name} aria-labelledby={`home-${name}`}>
      <div className="home-head">
        <h2 id={`home-${name}`}>{title}</h2>
        {total !== undefined && total > 0 && <span className="muted num">{n(total)}</span>}
        <span className="grow" />
        {more}
      </div>
      {children}
    </section>
  )
}

/** Which object it is: of which kind, whose, and in the pages of the platform in which project. */
export function ThingName({ thing, away }: { thing: Thing; away?: boolean }) {
  const { w } = useI18n()
  const { kind } = useApp()
  const own = kind(thing.kind)
  const object = refOf(thing.object)
  const project = refOf(thing.project)
  if (!object) return null
  const named = thing.title ? { id: object.id, name: w(thing.title) } : object
  return (
    <span className="home-name">
      <RefLink kindName={thing.kind} value={named} project={project} />
      <span className="muted">{[w(own?.title), away ? project?.name : undefined, refOf(thing.by)?.name].filter(Boolean).join(' · ')}</span>
    </span>
  )
}

function useReason(): (thing: Thing) => string {
  const { sentence } = useI18n()
  return ({ reason }) => (reason ? sentence(reason.en, reason.zh === reason.en ? null : reason.zh) : '')
}

function Far({ thing }: { thing: Thing }) {
  const { t, n } = useI18n()
  if (thing.done !== null && thing.total) {
    const share = Math.min(1, thing.done / thing.total)
    return <span className="home-far"><Bar share={share} label={t('home.far')} /><span className="num muted">{t('home.ofTotal', { done: n(thing.done), total: n(thing.total) })}</span></span>
  }
  if (thing.metrics.length === 0) return null
  const step = thing.metrics[0]?.step ?? 0
  return <span className="num muted">{thing.metrics.map((m) => `${m.name} ${n(m.last, 4)}`).join(' · ')} · {t('home.step', { n: n(step) })}</span>
}

interface RowsProps {
  items: readonly Thing[]
  away?: boolean
}

/** In what state, which object, what there is to say of it, since when. */
function Rows({ items, away, says }: RowsProps & { says: (thing: Thing) => ReactNode }) {
  return (
    <ul className="home-list">
      {items.map((thing) => (
        <li key={`${thing.kind}-${thing.object.id}`}>
          <StateTag state={thing.state} />
          <ThingName thing={thing} away={away} />
          {says(thing)}
          <span className="home-when"><Time at={thing.at} /></span>
        </li>
      ))}
    </ul>
  )
}

export function Running(props: RowsProps) {
  const { t } = useI18n()
  return props.items.length === 0 ? <p className="muted">{t('home.noneRuns')}</p> : <Rows {...props} says={(thing) => <Far thing={thing} />} />
}

export function Waiting(props: RowsProps) {
  const { t, language } = useI18n()
  const reason = useReason()
  return <Rows {...props} says={(thing) => <span className="home-why">{reason(thing)}{thing.estimate && <span className="muted"> · {t('home.likely', { time: absoluteTime(Date.parse(thing.estimate), language) })}</span>}</span>} />
}

/** Why it failed in words, and below it the last line that it left. */
export function Failures(props: RowsProps) {
  const { t } = useI18n()
  const reason = useReason()
  if (props.items.length === 0) return <p className="muted">{t('home.noneFailed')}</p>
  return <Rows {...props} says={(thing) => <span className="home-why">{reason(thing)}{thing.line && <code title={thing.line}>{thing.line}</code>}</span>} />
}
