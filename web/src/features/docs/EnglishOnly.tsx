import { useI18n } from '../../i18n'

/** To those who read another language: what is written in English only. */
export function EnglishOnly() {
  const { t, language } = useI18n()
  return language === 'en' ? null : <p className="note" role="note">{t('docs.englishOnly')}</p>
}
