import { Problem } from '../api/client'
import { isKey, type I18n } from '../i18n'

/** The sentence for an error's code, in the reader's language. */
export function problemTitle(error: unknown, { t }: I18n): string {
  if (!(error instanceof Problem)) return t('error.title')
  const key = `error.${error.code}`
  return isKey(key) ? t(key) : t('error.title')
}

/** Title, what is missing, and the server's own words where they say more. */
export function problemText(error: unknown, i18n: I18n): string {
  if (!(error instanceof Problem)) return error instanceof Error ? error.message : String(error)
  if (error.code === 'forbidden' && error.permission) return i18n.t('error.forbiddenNeeds', { permission: error.permission })
  const title = problemTitle(error, i18n)
  const detail = i18n.sentence(error.detail, error.detailZh)
  return detail && error.code !== 'network' ? `${title}${i18n.language === 'zh' ? '：' : ': '}${detail}` : title
}
