import type { CanvasDocument } from '../../../canvas'
import { useI18n } from '../../../i18n'
import type { LabelDefinition } from '../surface'

/** The labels that the sample has now, beside what is read or heard. */
export function Chosen({ document, labels, colorOf }: { document: CanvasDocument; labels: readonly LabelDefinition[]; colorOf: (label: string) => string }) {
  const { t } = useI18n()
  if (document.labels.length === 0) return <span className="muted">{t('surface.unlabelled')}</span>
  return (
    <span className="chosen" role="status">
      {document.labels.map((name) => (
        <span key={name} className="tag"><span className="dot" style={{ background: colorOf(name) }} />{name}{labels.find((l) => l.name === name)?.retired ? ` (${t('surface.retired')})` : ''}</span>
      ))}
    </span>
  )
}
