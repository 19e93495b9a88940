import { Input, Select, Slider } from 'antd'
import type { EditProps, ShowProps } from '../../components/editors'
import { useI18n } from '../../i18n'
import { sampleStates } from '../datasets/samples'
import './labelling.css'
import { tidySelection, type Selection } from './model'

const parts = ['train', 'val', 'test'] as const
const orders = ['position', 'name', 'random'] as const

function read(value: unknown): Selection {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Selection) : {}
}

/** Which samples of the version the task is about, and in which order they are given out. */
export function SelectionEdit({ id, value, onChange }: EditProps) {
  const { t } = useI18n()
  const now = read(value)
  const set = (part: Partial<Selection>) => onChange(tidySelection({ ...now, ...part }))
  const share = Math.round((now.share ?? 1) * 100)
  return (
    <div className="selection-edit">
      <label htmlFor={id}>{t('selection.states')}<Select id={id} mode="multiple" allowClear value={now.states ?? []} placeholder={t('selection.any')} onChange={(states: string[]) => set({ states })} options={sampleStates.filter((s) => s !== 'cleaned').map((s) => ({ value: s, label: t(`sampleState.${s}`) }))} /></label>
      <label htmlFor={`${id}-labels`}>{t('selection.labels')}<Select id={`${id}-labels`} mode="tags" allowClear value={now.labels ?? []} placeholder={t('selection.any')} open={false} suffixIcon={null} tokenSeparators={[',']} onChange={(labels: string[]) => set({ labels })} /></label>
      <label htmlFor={`${id}-splits`}>{t('selection.splits')}<Select id={`${id}-splits`} mode="multiple" allowClear value={now.splits ?? []} placeholder={t('selection.any')} onChange={(splits: string[]) => set({ splits })} options={parts.map((p) => ({ value: p, label: t(`split.${p}`) }))} /></label>
      <label htmlFor={`${id}-q`}>{t('selection.q')}<Input id={`${id}-q`} value={now.q ?? ''} placeholder={t('selection.any')} onChange={(e) => set({ q: e.target.value })} /></label>
      <div><span id={`${id}-share`}>{share === 100 ? t('selection.whole') : t('selection.share', { share })}</span><Slider ariaLabelledByForHandle={`${id}-share`} min={1} max={100} value={share} tooltip={{ formatter: (n) => `${n ?? 0}%` }} onChange={(n: number) => set({ share: n / 100 })} /></div>
      <label htmlFor={`${id}-order`}>{t('selection.order')}<Select id={`${id}-order`} value={now.order ?? 'position'} onChange={(order) => set({ order })} options={orders.map((o) => ({ value: o, label: t(`selection.order_${o}`) }))} /></label>
    </div>
  )
}

export function SelectionShow({ value }: ShowProps) {
  const { t } = useI18n()
  const now = read(value)
  const said = [
    ...(now.states?.length ? [`${t('selection.states')}: ${now.states.map((s) => t(`sampleState.${s as (typeof sampleStates)[number]}`)).join(', ')}`] : []),
    ...(now.labels?.length ? [`${t('selection.labels')}: ${now.labels.join(', ')}`] : []),
    ...(now.splits?.length ? [`${t('selection.splits')}: ${now.splits.join(', ')}`] : []),
    ...(now.q ? [`${t('selection.q')}: ${now.q}`] : []),
    ...(now.share !== undefined && now.share < 1 ? [t('selection.share', { share: Math.round(now.share * 100) })] : []),
    ...(now.order && now.order !== 'position' ? [`${t('selection.order')}: ${t(`selection.order_${now.order}`)}`] : []),
  ]
  return <span>{said.length > 0 ? said.join(' · ') : t('selection.all')}</span>
}
