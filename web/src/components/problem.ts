import { Problem } from '../api/client'
import { isKey, type I18n } from '../i18n'
import { sentence } from '../i18n/sentences'

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
  const detail = sentence(error.detail, i18n.language, error.detailZh)
  return detail && error.code !== 'network' ? `${title}${i18n.language === 'zh' ? '：' : ': '}${detail}` : title
}
