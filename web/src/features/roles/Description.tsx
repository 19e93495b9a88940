import type { ShowProps } from '../../components/editors'
import { useI18n } from '../../i18n'

/** What the built-in roles are for, in the reader's language; others as they were written. */
export function DescriptionShow({ value, short, item }: ShowProps) {
  const { t, sentence } = useI18n()
  const written = typeof value === 'string' ? value : ''
  const text = item?.['built_in'] === true ? sentence(written) : written
  if (text === '') return <span className="muted">{t('value.none')}</span>
  return short ? <span title={text}>{text}</span> : <span className="pre">{text}</span>
}
