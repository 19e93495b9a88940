import { useQuery } from '@tanstack/react-query'
import { Button, Drawer } from 'antd'
import { useMemo } from 'react'
import { useApp } from '../../app/context'
import { useKeys, type Shortcut } from '../../app/keys'
import { request } from '../../api/client'
import type { Ref } from '../../api/kinds'
import { useItem } from '../../api/objects'
import { formatBytes } from '../../components/format'
import { useEscape } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { nameOf } from '../../components/names'
import { ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import type { Change } from './Compare'
import { colorsOf, labelCounts, type ColorOf, type Sample, type Version } from './samples'
import { SampleView } from './SampleView'

interface Props {
  version: Version
  other: { path: string; name: string }
  change: Change
  onClose: () => void
  onPrevious?: () => void
  onNext?: () => void
}

/** What happened to a sample; and from which part of the split it went to which, whatever else changed. */
export function ChangeTag({ change }: { change: Change }) {
  const { t } = useI18n()
  const part = (name: Change['split_after']) => (name ? t(`split.${name}`) : t('split.none'))
  const moved = change.before !== null && change.after !== null && change.split_before !== change.split_after
  return (
    <span className="row wrap">
      <span className={`tag change-${change.change}`}>{t(`change.${change.change}`)}</span>
      {moved && <span className="muted">{`${part(change.split_before)} → ${part(change.split_after)}`}</span>}
    </span>
  )
}

/** One sample as it was and as it is, side by side. */
export function ChangeDrawer({ version, other, change, onClose, onPrevious, onNext }: Props) {
  const { t } = useI18n()
  const { kind: byName, project } = useApp()
  const labelSet = version.parent['label_set'] as Ref | null
  const labels = useItem(byName('label_set'), { project: project?.id }, labelSet?.id ?? NaN, labelSet !== null)
  const colorOf = useMemo(() => colorsOf(labels.data?.['labels']), [labels.data])
  const shortcuts = useMemo<Shortcut[]>(() => [
    { keys: 'ArrowRight', label: 'keys.nextSample', group: 'form', run: () => onNext?.() },
    { keys: 'ArrowLeft', label: 'keys.previousSample', group: 'form', run: () => onPrevious?.() },
  ], [onNext, onPrevious])
  useKeys(shortcuts)
  useEscape(onClose)
  return (
    <Drawer
      open width="min(1180px, 100vw)" onClose={onClose} rootClassName="sample-drawer"
      title={<span className="drawer-title" title={change.name}>{change.name}</span>}
      extra={<span className="row">
        <Button aria-label={t('keys.previousSample')} title={t('keys.previousSample')} disabled={!onPrevious} icon={<span className="turned"><Icon name="chevron" /></span>} onClick={onPrevious} />
        <Button aria-label={t('keys.nextSample')} title={t('keys.nextSample')} disabled={!onNext} icon={<Icon name="chevron" />} onClick={onNext} />
      </span>}
    >
      <p><ChangeTag change={change} /></p>
      <div className="two sides">
        <Side title={other.name} version={{ ...version, path: other.path }} id={change.before} colorOf={colorOf} />
        <Side title={nameOf(version.kind, version.item)} version={version} id={change.after} colorOf={colorOf} />
      </div>
    </Drawer>
  )
}

function Side({ title, version, id, colorOf }: { title: string; version: Version; id: number | null; colorOf: ColorOf }) {
  const { t, n } = useI18n()
  const found = useQuery({
    queryKey: ['objects', 'dataset_version', 'sample', version.path, id],
    queryFn: ({ signal }) => request<Sample>(`${version.path}/samples/${id}`, { signal }),
    enabled: id !== null,
  })
  const sample = found.data
  return (
    <section aria-label={title} className="side-of-change">
      <h2>{title}</h2>
      {id === null ? <p className="muted">{t('compare.absent')}</p> : found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : sample && (
        <>
          <SampleView key={sample.id} version={version} sample={sample} colorOf={colorOf} shapes />
          <p className="muted num">{[t(`sampleState.${sample.state}`), ...(sample.split ? [t(`split.${sample.split}`)] : []), ...(sample.width > 0 ? [`${sample.width} × ${sample.height}`] : []), formatBytes(sample.size)].join(' · ')}</p>
          <Labels sample={sample} colorOf={colorOf} none={t('sample.none')} n={n} />
        </>
      )}
    </section>
  )
}

function Labels({ sample, colorOf, none, n }: { sample: Sample; colorOf: ColorOf; none: string; n: (value: number) => string }) {
  const labels = labelCounts(sample.annotation)
  if (labels.length === 0) return sample.annotation.text ? null : <p className="muted">{none}</p>
  return <ul className="tags">{labels.map(([label, count]) => <li key={label} className="chip"><span className="dot" style={{ background: colorOf(label) }} />{label}<span className="muted num">{n(count)}</span></li>)}</ul>
}
