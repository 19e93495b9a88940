import { Button, Input, Select } from 'antd'
import { useEffect, useState } from 'react'
import { useDebounced } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { sampleStates, type SampleFilter, type SampleState, type Statistics, type Version } from './samples'

interface Props {
  version: Version
  statistics: Statistics | undefined
  filter: SampleFilter
  onChange: (values: Record<string, string | null>) => void
  selected: number
  onClean: () => void
  onRelabel: () => void
  onClear: () => void
  count: number | null
  /** Otherwise there are more. */
  exact: boolean
  /** A page in sight did not come. */
  error: Error | null
  onRetry: () => void
}

/** What stands above the grid, and stays in sight. */
export function GalleryTools({ version, statistics, filter, onChange, selected, onClean, onRelabel, onClear, count, exact, error, onRetry }: Props) {
  const i18n = useI18n()
  const { t, n } = i18n
  const [text, setText] = useState(filter.q ?? '')
  const settled = useDebounced(text, 250)
  useEffect(() => {
    if (settled !== (filter.q ?? '')) onChange({ q: settled || null })
    // Only what is typed changes the address; what the address says on its own is taken over below.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [settled])
  useEffect(() => setText(filter.q ?? ''), [filter.q])
  const labels = statistics?.labels ?? []
  // How many have one label, or one state, is counted on the server.
  const counted = filter.q ? undefined : filter.label && !filter.state ? labels.find((l) => l.label === filter.label)?.samples : filter.state && !filter.label ? statistics?.states[filter.state as SampleState] : undefined
  const number = exact ? count : counted
  return (
    <div className="gallery-tools">
      <div className="tools">
        <Input id="gallery-search" className="search" allowClear prefix={<Icon name="search" size={14} />} suffix={text === '' ? <kbd>/</kbd> : undefined} aria-label={t('gallery.search')} placeholder={t('gallery.search')} value={text} onChange={(e) => setText(e.target.value)} onPressEnter={() => onChange({ q: text || null })} />
        <Select className="facet" aria-label={t('gallery.label')} placeholder={t('gallery.label')} allowClear showSearch value={filter.label ?? null} onChange={(value: string | null) => onChange({ label: value ?? null })} popupMatchSelectWidth={false} options={labels.map((l) => ({ value: l.label, label: `${l.label} (${n(l.samples)})` }))} />
        <Select className="facet" aria-label={t('versions.state')} placeholder={t('versions.state')} allowClear value={filter.state ?? null} onChange={(value: string | null) => onChange({ state: value ?? null })} popupMatchSelectWidth={false} options={sampleStates.map((s) => ({ value: s, label: statistics ? `${t(`sampleState.${s}`)} (${n(statistics.states[s])})` : t(`sampleState.${s}`) }))} />
        <span className="muted num" role="status">{count === null ? '' : t('versions.samples', { n: typeof number === 'number' ? n(number) : `${n(count)}+` })}</span>
        <span className="grow" />
        {selected > 0 && (
          <span className="row">
            <span className="num">{t('gallery.selected', { n: n(selected) })}</span>
            {version.open && <Button onClick={onRelabel}>{t('bench.bulk')}</Button>}
            {version.open && <Button onClick={onClean}>{t(filter.state === 'cleaned' ? 'gallery.restore' : 'gallery.clean')}</Button>}
            <Button type="text" onClick={onClear}>{t('gallery.clearSelection')}</Button>
          </span>
        )}
      </div>
      {error && <p className="note note-error" role="alert">{problemText(error, i18n)} <Button size="small" onClick={onRetry}>{t('error.retry')}</Button></p>}
    </div>
  )
}
