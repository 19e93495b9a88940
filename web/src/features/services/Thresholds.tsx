import { Slider } from 'antd'
import { useI18n } from '../../i18n'

interface Props {
  /** By name, as they are now. */
  values: Readonly<Record<string, number>>
  onChange: (name: string, value: number) => void
  /** After the last change of one. */
  onDone: (name: string, value: number) => void
}

/** A slider for each threshold. */
export function Thresholds({ values, onChange, onDone }: Props) {
  const { t, n } = useI18n()
  const title = (name: string) => {
    switch (name) {
      case 'iou': return t('try.threshold.iou')
      case 'mask': return t('try.threshold.mask')
      case 'text': return t('try.threshold.text')
      case 'point': return t('try.threshold.point')
      default: return t('try.threshold')
    }
  }
  return (
    <div className="try-thresholds">
      {Object.entries(values).map(([name, value]) => (
        <div key={name} className="try-threshold">
          <span id={`threshold-${name}`} className="muted">{title(name)}</span>
          <Slider min={0} max={1} step={0.01} value={value} onChange={(v) => onChange(name, v)} onChangeComplete={(v) => onDone(name, v)} ariaLabelledByForHandle={`threshold-${name}`} />
          <span className="num">{n(value, 2)}</span>
        </div>
      ))}
    </div>
  )
}
