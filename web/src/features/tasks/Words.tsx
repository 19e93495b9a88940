import type { ShowProps } from '../../components/editors'
import { isKey, useI18n } from '../../i18n'
import { taskName } from './tasks'
import './tasks.css'

/** A task's name in the reader's language. */
export function NameShow({ value, item }: ShowProps) {
  const { language } = useI18n()
  const text = taskName(value, item?.['name_zh'], language)
  return <span title={text}>{text}</span>
}

export function TypeShow({ value }: ShowProps) {
  const { t } = useI18n()
  const key = `taskType.${String(value)}`
  return <span>{isKey(key) ? t(key) : String(value)}</span>
}

export function TaskStateShow({ value }: ShowProps) {
  const { t } = useI18n()
  const key = `task.${String(value)}`
  return <span className={`tag task-${String(value)}`}>{isKey(key) ? t(key) : String(value)}</span>
}
