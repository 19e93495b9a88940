import { Link, useLocation } from 'react-router'
import { manualUrl } from '../app/links'
import { useI18n } from '../i18n'
import { Icon } from './Icon'

/** To what there is to read about a kind, with the way back to this page. */
export function LearnMore({ kind, icon }: { kind: string; icon?: boolean }) {
  const { t } = useI18n()
  const { pathname, search } = useLocation()
  const url = manualUrl(kind)
  if (!url) return null
  return <Link className="learn-more" to={url} state={{ from: pathname + search }} {...(icon && { title: t('app.learnMore'), 'aria-label': t('app.learnMore') })}>{icon ? <Icon name="book" size={15} /> : t('app.learnMore')}</Link>
}
