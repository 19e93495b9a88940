import { useMemo } from 'react'
import { useApp } from '../../app/context'
import type { Ref } from '../../api/kinds'
import { useItem } from '../../api/objects'
import { useI18n } from '../../i18n'
import { Bars, Block } from './Bars'
import { colorsOf, useSplits, type ColorOf, type Splits, type Statistics, type Version } from './samples'

const names = ['train', 'val', 'test', 'none'] as const
type Parts = Splits['parts']

/** The colours that the version's label set gives its labels. */
export function useColorOf(version: Version): ColorOf {
  const { kind, project } = useApp()
  const labelSet = version.parent['label_set'] as Ref | null
  const labels = useItem(kind('label_set'), { project: project?.id }, labelSet?.id ?? NaN, labelSet !== null)
  return useMemo(() => colorsOf(labels.data?.['labels']), [labels.data])
}

function useParts() {
  const { t, n } = useI18n()
  const list = (parts: Parts) => names.map((name) => ({ title: t(`split.${name}`), value: parts[name] }))
  return { list, text: (parts: Parts) => list(parts).filter((part) => part.value > 0).map((part) => `${part.title} ${n(part.value)}`).join(' · ') }
}

/** Samples by label, in the label's colour; where there is a split, by its parts. */
export function LabelBars({ version, labels }: { version: Version; labels: Statistics['labels'] }) {
  const { t, n } = useI18n()
  const colorOf = useColorOf(version)
  const splits = useSplits(version)
  const { list, text } = useParts()
  const byLabel = useMemo(() => new Map(splits.data?.labels.map((l) => [l.label, l])), [splits.data])
  return (
    <Bars
      label={t('statistics.labels')}
      rows={labels.map((l) => {
        const parts = byLabel.get(l.label)
        return {
          key: l.label, title: l.label, value: l.samples, color: colorOf(l.label), to: `?label=${encodeURIComponent(l.label)}`,
          note: [t('statistics.shapes', { n: n(l.shapes) }), ...(parts ? [text(parts)] : [])].join(' · '), parts: parts && list(parts),
        }
      })}
    />
  )
}

/** How many samples are in which part; nothing where there is no split. */
export function SplitBlock({ version }: { version: Version }) {
  const { t } = useI18n()
  const splits = useSplits(version)
  const { list } = useParts()
  const parts = splits.data?.parts
  if (!parts || parts.train + parts.val + parts.test === 0) return null
  const untrained = splits.data?.labels.filter((l) => l.train === 0).map((l) => l.label) ?? []
  return (
    <Block title={t('statistics.splits')}>
      <Bars label={t('statistics.splits')} rows={list(parts).filter((part, i) => i < 3 || part.value > 0).map((part) => ({ key: part.title, title: part.title, value: part.value }))} />
      {parts.train > 0 && untrained.length > 0 && <p className="note">{t('statistics.untrained', { labels: untrained.slice(0, 10).join(', '), n: untrained.length })}</p>}
    </Block>
  )
}
