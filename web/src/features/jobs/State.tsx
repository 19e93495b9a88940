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
