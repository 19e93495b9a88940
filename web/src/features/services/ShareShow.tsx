import type { ShowProps } from '../../components/editors'
import { useI18n } from '../../i18n'
import { shareText } from './services'

/** A canary's share where there is a canary. */
export function ShareShow({ value, item }: ShowProps) {
  const { t } = useI18n()
  return item && !item['canary'] ? <span className="muted">{t('value.none')}</span> : <span className="num">{shareText(Number(value))}</span>
}
