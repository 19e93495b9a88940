import { Link } from 'react-router'
import type { Item } from '../../api/kinds'
import { reasonOf } from '../jobs/jobs'
import { useI18n } from '../../i18n'

export interface Cause { id: string; sentence: string; sentence_zh: string; lines: string[] }

export function causeOf(item: Item): Cause | null {
  const cause = item['cause'] as Partial<Cause> | null | undefined
  return cause && typeof cause.sentence === 'string' && Array.isArray(cause.lines) ? (cause as Cause) : null
}

/** Why a run failed, what to do about it, and what it wrote last. `page`: the run's, where that is another one. */
export function Failure({ item, log, page = '' }: { item: Item; log: boolean; page?: string }) {
  const i18n = useI18n()
  const { t, language } = i18n
  const cause = causeOf(item)
  const reason = reasonOf(item, i18n)
  if (!cause) return null
  return (
    <section className="note note-error failure" role="status" aria-label={t('failure.title')}>
      <p><strong>{language === 'zh' ? cause.sentence_zh : cause.sentence}</strong></p>
      {reason && <p className="muted">{reason}{log && <> · <Link to={`${page}?tab=log`} replace={page === ''}>{t('job.seeLog')}</Link></>}</p>}
      {cause.lines.length > 0 && <pre tabIndex={0} aria-label={t('failure.lines')}>{cause.lines.join('\n')}</pre>}
    </section>
  )
}
