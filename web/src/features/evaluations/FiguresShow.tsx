import type { ShowProps } from '../../components/editors'
import { useI18n } from '../../i18n'
import type { Figure } from './evaluations'
import { useFigures } from './useFigures'

/** The main figures of an evaluation, in a line. */
export function FiguresShow({ value }: ShowProps) {
  const { t } = useI18n()
  const read = useFigures()
  const figures = typeof value === 'object' && value !== null ? Object.entries(value as Record<string, Figure>) : []
  if (figures.length === 0) return <span className="muted">{t('value.none')}</span>
  return <span className="num">{figures.slice(0, 2).map(([name, f]) => `${read.title(name)} ${read.text(name, f.value)}`).join(' · ')}</span>
}
