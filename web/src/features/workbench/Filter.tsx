import { Button, Input, Popover, Select, Tooltip } from 'antd'
import { useEffect, useState } from 'react'
import { useDebounced } from '../../components/hooks'
import { useI18n } from '../../i18n'
import { sampleStates, type SampleFilter, type Statistics } from '../datasets/samples'
import { ToolIcon } from './ToolIcon'

interface Props {
  filter: SampleFilter
  statistics: Statistics | undefined
  /** How many the filter leaves. */
  count: string
  onChange: (part: Record<keyof SampleFilter, string | null>) => void
}

/** Which samples of a version one goes through: those of the gallery's filter, which can be changed here. */
export function Filter({ filter, statistics, count, onChange }: Props) {
  const { t, n } = useI18n()
  const [text, setText] = useState(filter.q ?? '')
  const settled = useDebounced(text, 250)
  const change = (part: Partial<Record<keyof SampleFilter, string | null>>) => onChange({ q: filter.q ?? null, state: filter.state ?? null, label: filter.label ?? null, ...part })
  useEffect(() => {
    if (settled !== (filter.q ?? '')) change({ q: settled || null })
    // Only what is typed changes the address; what the address says on its own is taken over below.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [settled])
  useEffect(() => setText(filter.q ?? ''), [filter.q])
  const on = Object.keys(filter).length > 0
  const form = (
    <div className="bench-filter">
      <Input size="small" allowClear aria-label={t('gallery.search')} placeholder={t('gallery.search')} value={text} onChange={(e) => setText(e.target.value)} />
      <Select size="small" aria-label={t('versions.state')} placeholder={t('versions.state')} allowClear value={filter.state ?? null} onChange={(state: string | null) => change({ state: state ?? null })} options={sampleStates.map((s) => ({ value: s, label: statistics ? `${t(`sampleState.${s}`)} (${n(statistics.states[s])})` : t(`sampleState.${s}`) }))} />
      <Select size="small" aria-label={t('gallery.label')} placeholder={t('gallery.label')} allowClear showSearch value={filter.label ?? null} onChange={(label: string | null) => change({ label: label ?? null })} options={(statistics?.labels ?? []).map((l) => ({ value: l.label, label: `${l.label} (${n(l.samples)})` }))} />
      <div className="row"><span className="muted num grow" role="status">{t('versions.samples', { n: count })}</span>{on && <Button size="small" onClick={() => onChange({ q: null, state: null, label: null })}>{t('bench.filterOff')}</Button>}</div>
    </div>
  )
  return (
    <Popover trigger="click" placement="bottomLeft" content={form}>
      <Tooltip title={t(on ? 'bench.filterOn' : 'bench.filter')}><Button type="text" size="small" className={on ? 'bench-on' : undefined} aria-label={t(on ? 'bench.filterOn' : 'bench.filter')} icon={<ToolIcon name="filter" />} /></Tooltip>
    </Popover>
  )
}
