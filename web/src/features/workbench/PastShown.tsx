import { Alert, Button } from 'antd'
import { useMemo } from 'react'
import { createDocument, shapeTypes } from '../../canvas'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import type { BenchState, BenchStore } from './bench'
import type { LabelDefinition } from './surface'
import { Chosen } from './surfaces/Chosen'

/** Above the surface while it shows an earlier state: which, what no surface can draw of it, and the way back. */
export function PastShown({ bench, past, labels, onRestore }: { bench: BenchStore; past: NonNullable<BenchState['past']>; labels: readonly LabelDefinition[]; onRestore: () => void }) {
  const { t } = useI18n()
  const document = useMemo(() => createDocument({ annotation: past.annotation, type: bench.type, width: 0, height: 0 }), [past, bench])
  return (
    <Alert
      type="info" banner className="bench-past"
      message={<span className="row wrap"><span>{t('bench.pastShown', { what: past.text })}</span><span className="muted"><Time at={past.at} /></span>{shapeTypes[bench.type].length === 0 && <Chosen document={document} labels={labels} colorOf={bench.colorOf} />}{document.text && <span className="pre clip-line">{document.text}</span>}</span>}
      action={<span className="row"><Button size="small" onClick={() => bench.set({ past: null })}>{t('bench.showAfter')}</Button>{!bench.fixed && <Button size="small" type="primary" onClick={onRestore}>{t('bench.restoreState')}</Button>}</span>}
    />
  )
}
