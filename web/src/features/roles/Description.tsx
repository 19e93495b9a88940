import type { ShowProps } from '../../components/editors'
import { useI18n } from '../../i18n'
import { sentence } from '../../i18n/sentences'

/** What the built-in roles are for, in the reader's language; others as they were written. */
export function DescriptionShow({ value, short, item }: ShowProps) {
  const { t, language } = useI18n()
  const written = typeof value === 'string' ? value : ''
  const text = item?.['built_in'] === true ? sentence(written, language) : written
  if (text === '') return <span className="muted">{t('value.none')}</span>
  return short ? <span title={text}>{text}</span> : <span className="pre">{text}</span>
}
