import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import type { Item } from '../../api/kinds'
import { useI18n } from '../../i18n'
import { useFigures } from '../evaluations/useFigures'
import { reasonOf } from '../jobs/jobs'
import { goldenOf } from './services'

/** What the canary did on the service's golden dataset version, beside production. */
export function Golden({ item, canary }: { item: Item; canary: Item | undefined }) {
  const i18n = useI18n()
  const { t, n } = i18n
  const { kind, project } = useApp()
  const read = useFigures()
  const result = goldenOf(item)
  const evaluations = kind('evaluation')
  // Of a canary that was rolled back the reason stays; a new one begins anew.
  if (!result || (canary && canary.id !== result.canary)) return null
  const reason = reasonOf({ ...item, reason: result.reason, reason_zh: result.reason_zh }, i18n)
  const link = (id: number | null, text: string) => {
    const url = id !== null && evaluations ? itemUrl(evaluations, id, project) : null
    return url ? <Link to={url}>{text}</Link> : null
  }
  return (
    <section className="service-golden" aria-label={t('service.golden')}>
      <strong>{t('service.golden')}</strong>
      <span className={`golden-${result.state}`}>{t(`service.golden.${result.state}`)}</span>
      {result.figure !== undefined && result.canary_value != null && result.production_value != null && (
        <span className="num">{t('service.golden.figures', { figure: read.title(result.figure), canary: n(result.canary_value, 3), production: n(result.production_value, 3) })}</span>
      )}
      {result.samples !== undefined && <span className="num">{t('service.golden.agree', { n: n(result.agree ?? 0), of: n(result.samples) })}</span>}
      {link(result.canary_evaluation, t('service.golden.canaryReport'))}
      {link(result.production_evaluation, t('service.golden.productionReport'))}
      {reason && <p className="note reason">{reason}</p>}
    </section>
  )
}
