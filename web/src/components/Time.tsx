import { Tooltip } from 'antd'
import { useI18n } from '../i18n'
import { absoluteTime, relativeTime } from './format'
import { useNow } from './hooks'

/** Relative time, to the second if exact; the absolute one on hover and for screen readers. */
export function Time({ at, exact }: { at: string | null | undefined; exact?: boolean }) {
  const { t, language } = useI18n()
  const now = useNow()
  if (!at) return <span className="muted">{t('time.never')}</span>
  const then = Date.parse(at)
  if (Number.isNaN(then)) return <span>{at}</span>
  return (
    <Tooltip title={absoluteTime(then, language)}>
      <time dateTime={at} className="num">{relativeTime(then, Math.max(now, Date.now() - 20_000), language, exact) ?? t('time.now')}</time>
    </Tooltip>
  )
}
