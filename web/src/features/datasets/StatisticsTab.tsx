import { Button } from 'antd'
import { useState } from 'react'
import { formatBytes } from '../../components/format'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { Bars, Block } from './Bars'
import { SharpnessHistogram } from './Sharpness'
import { Sizes } from './Sizes'
import { sampleStates, useStatistics, type Version } from './samples'
import { LabelBars, SplitBlock } from './Splits'
import { usualThreshold } from './steps'

/** Counts by state and label, sizes, sharpness. `onPreprocess` is there where pictures can be cleaned by their sharpness. */
export function StatisticsTab({ version, onPreprocess }: { version: Version; onPreprocess?: (threshold: number) => void }) {
  const { t, n } = useI18n()
  const [all, setAll] = useState(false)
  const [threshold, setThreshold] = useState(usualThreshold)
  const found = useStatistics(version)
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const data = found.data
  if (!data) return <Skeleton n={2} />
  if (data.samples === 0 && data.states.cleaned === 0) return <Empty title={t('gallery.empty')} text={t('statistics.empty')} />
  const labels = [...data.labels].sort((a, b) => b.samples - a.samples)
  const shown = all ? labels : labels.slice(0, 30)
  return (
    <div className="summary statistics">
      <dl className="facts">
        <div><dt>{t('tab.samples')}</dt><dd className="num">{n(data.samples)}</dd></div>
        <div><dt>{t('versions.size')}</dt><dd className="num">{formatBytes(data.bytes)}</dd></div>
        <div><dt>{t('statistics.mean')}</dt><dd className="num">{data.samples > 0 ? formatBytes(Math.round(data.bytes / data.samples)) : t('value.none')}</dd></div>
        <div><dt>{t('labels.title')}</dt><dd className="num">{n(labels.length)}</dd></div>
      </dl>
      <Block title={t('statistics.states')}>
        <Bars label={t('statistics.states')} rows={sampleStates.map((s) => ({ key: s, title: t(`sampleState.${s}`), value: data.states[s], to: `?state=${s}` }))} />
      </Block>
      <Block title={t('statistics.labels')}>
        {labels.length === 0 ? <p className="muted">{t('statistics.noLabels')}</p> : (
          <>
            <LabelBars version={version} labels={shown} />
            {labels.length > shown.length && <Button type="text" onClick={() => setAll(true)}>{t('value.more', { n: n(labels.length - shown.length) })}</Button>}
          </>
        )}
      </Block>
      <SplitBlock version={version} />
      <Sizes version={version} />
      {version.parent['data_type'] === 'image' && (
        <Block title={t('statistics.sharpness')}>
          <p className="muted">{t('statistics.sharpnessHint')}</p>
          <SharpnessHistogram version={version} threshold={threshold} onThreshold={setThreshold} />
          {onPreprocess && <p className="more-link"><Button size="small" onClick={() => onPreprocess(threshold)}>{t('statistics.clean')}</Button></p>}
        </Block>
      )}
    </div>
  )
}
