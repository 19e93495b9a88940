import type { ShowProps } from '../../components/editors'
import { isKey, useI18n } from '../../i18n'
import { reasonOf } from './jobs'
import './compute.css'

/** A state in words, with a mark that differs by shape and colour. */
export function StateTag({ state }: { state: string }) {
  const { t } = useI18n()
  const key = `state.${state}`
  return <span className={`state state-${state}`}><i aria-hidden="true" />{isKey(key) ? t(key) : state}</span>
}

export function StateShow({ value }: ShowProps) {
  return typeof value === 'string' ? <StateTag state={value} /> : null
}

export function ReasonShow({ item, value }: ShowProps) {
  const i18n = useI18n()
  const text = item ? reasonOf(item, i18n) : typeof value === 'string' ? value : ''
  return text ? <span title={text}>{text}</span> : <span className="muted">{i18n.t('value.none')}</span>
}

/** Where each rank runs, and on which devices. */
export function PlacementShow({ value }: ShowProps) {
  const { t } = useI18n()
  const ranks = Array.isArray(value) ? (value as { node?: string; devices?: unknown[] }[]) : []
  if (ranks.length === 0) return <span className="muted">{t('value.none')}</span>
  const devices = (list: unknown[] | undefined) => (list && list.length > 0 ? ` (${list.map((d) => (typeof d === 'object' && d !== null ? Object.values(d).join(' ') : String(d))).join(', ')})` : '')
  return <ol className="placement">{ranks.map((rank, i) => <li key={i} className="num">{ranks.length > 1 && <span className="muted">{t('job.nodeN', { n: i })}: </span>}{rank.node}{devices(rank.devices)}</li>)}</ol>
}

/** Accelerators of a node: kind and path of each. */
export function DevicesShow({ value }: ShowProps) {
  const { t } = useI18n()
  const devices = Array.isArray(value) ? (value as { kind?: string; path?: string }[]) : []
  if (devices.length === 0) return <span className="muted">{t('value.none')}</span>
  return <ul className="placement">{devices.map((d, i) => <li key={i}>{d.kind} <code className="muted">{d.path}</code></li>)}</ul>
}
