import { useQuery } from '@tanstack/react-query'
import { Button, Drawer } from 'antd'
import { Suspense, useCallback, useEffect, useMemo, useRef, useState, type MouseEvent } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { useKeys, type Shortcut } from '../../app/keys'
import { request } from '../../api/client'
import type { Ref } from '../../api/kinds'
import { formatBytes, formatMoment } from '../../components/format'
import { useEscape, useShown } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { ErrorState } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { contentUrl, labelCounts, listSamples, thumbnailUrl, type ColorOf, type Sample, type SampleFilter, type Version } from './samples'
import type { Past } from './SampleHistory'
import { SampleView } from './SampleView'
import type { Pages } from './usePages'
import { lazyPart } from '../../app/part'

interface Props {
  version: Version
  id: number
  filter: SampleFilter
  pages: Pages
  colorOf: ColorOf
  onOpen: (id: number) => void
  onClose: () => void
  onClean: (id: number, cleaned: boolean) => void
}

// With what describes changes, which the gallery itself does not need.
const UseAsExample = lazyPart(() => import('../label-sets/UseAsExample'), 'UseAsExample')
const SampleHistory = lazyPart(() => import('./SampleHistory'), 'SampleHistory')

/** One sample: its picture (text, sound), what is known about it, and how that came to be. */
export function SampleDrawer({ version, id, filter, pages, colorOf, onOpen, onClose, onClean }: Props) {
  const { t } = useI18n()
  const [shapes, setShapes] = useState(true)
  const [past, setPast] = useState<Past | null>(null)
  useEffect(() => setPast(null), [id])
  const found = useQuery({
    queryKey: ['objects', 'dataset_version', 'sample', version.item.id, id],
    queryFn: ({ signal }) => request<Sample>(`${version.path}/samples/${id}`, { signal }),
  })
  const newest = found.data
  const sample = useMemo(() => newest && past ? { ...newest, annotation: past.annotation } : newest, [newest, past])
  const shown = useShown()
  const asked = useRef(0)
  useEffect(() => {
    asked.current += 1
  }, [id])
  // A sample in the middle of a long list may be opened by its address: its neighbours are then asked for.
  const go = useCallback(async (by: 1 | -1) => {
    const at = pages.indexOf(id)
    const near = at === undefined ? undefined : pages.idAt(at + by)
    if (near !== undefined) return onOpen(near)
    if (!sample) return
    const after = by === 1 ? sample.position : Math.max(0, sample.position - 101)
    asked.current += 1
    const turn = asked.current
    const page = await listSamples(version.path, filter, after, by === 1 ? 1 : 100).catch(() => null)
    const other = by === 1 ? page?.items[0] : page?.items.filter((s) => s.position < sample.position).at(-1)
    // Another one may have been opened meanwhile, or this one closed.
    if (other && turn === asked.current && shown()) onOpen(other.id)
  }, [pages, id, onOpen, sample, version.path, filter, shown])
  const shortcuts = useMemo<Shortcut[]>(() => [
    { keys: 'ArrowRight', label: 'keys.nextSample', group: 'form', run: () => void go(1) },
    { keys: 'ArrowLeft', label: 'keys.previousSample', group: 'form', run: () => void go(-1) },
    { keys: 'h', label: 'keys.shapes', group: 'form', run: () => setShapes((old) => !old) },
  ], [go])
  useKeys(shortcuts)
  useEscape(onClose)
  const at = pages.indexOf(id)
  const nextId = at === undefined ? undefined : pages.idAt(at + 1)
  useEffect(() => {
    if (nextId === undefined || at === undefined) return
    const next = pages.at(at + 1)
    if (next && next.width > 0) new Image().src = contentUrl(version.path, next)
  }, [nextId, at, pages, version.path])
  return (
    <Drawer
      open width="min(1180px, 100vw)" onClose={onClose} rootClassName="sample-drawer" destroyOnHidden
      title={<span className="drawer-title" title={sample?.name}>{sample?.name ?? t('list.loading')}</span>}
      extra={<span className="row">
        {version.open && <LabelLink id={id} />}
        <Button aria-label={t('keys.previousSample')} title={t('keys.previousSample')} icon={<span className="turned"><Icon name="chevron" /></span>} onClick={() => void go(-1)} />
        <Button aria-label={t('keys.nextSample')} title={t('keys.nextSample')} icon={<Icon name="chevron" />} onClick={() => void go(1)} />
      </span>}
    >
      {found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : sample && (
        <div className="sample">
          <SampleView key={sample.id} version={version} sample={sample} colorOf={colorOf} shapes={shapes} />
          <Side version={version} sample={sample} colorOf={colorOf} shapes={shapes} onShapes={setShapes} onClean={onClean} past={past} onPast={setPast} />
        </div>
      )}
    </Drawer>
  )
}

/** To the workbench, with the gallery's filter. */
function LabelLink({ id }: { id: number }) {
  const { t } = useI18n()
  const { project, id: dataset, number } = useParams()
  const [params] = useSearchParams()
  const navigate = useNavigate()
  const next = new URLSearchParams(params)
  next.set('sample', String(id))
  next.delete('tab')
  const url = `/p/${encodeURIComponent(project ?? '')}/datasets/${dataset}/v/${number}/label?${next}`
  const go = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    void navigate(url)
  }
  return <Button type="primary" href={url} onClick={go}>{t('bench.label')}</Button>
}

function Side({ version, sample, colorOf, shapes, onShapes, onClean, past, onPast }: { past: Past | null; onPast: (past: Past | null) => void; version: Version; sample: Sample; colorOf: ColorOf; shapes: boolean; onShapes: (value: boolean) => void; onClean: Props['onClean'] }) {
  const { t, n, language } = useI18n()
  const list = sample.annotation.shapes ?? []
  const labels = labelCounts(sample.annotation)
  return (
    <div className="sample-side">
      <div className="row wrap">
        <span className={`tag state-${sample.state}`}>{t(`sampleState.${sample.state}`)}</span>
        {version.open && <Button size="small" onClick={() => onClean(sample.id, sample.state !== 'cleaned')}>{t(sample.state === 'cleaned' ? 'gallery.restore' : 'gallery.clean')}</Button>}
        <Button size="small" href={contentUrl(version.path, sample)} download={sample.name.split('/').at(-1)}>{t('sample.download')}</Button>
        {list.length > 0 && <Button size="small" aria-pressed={shapes} onClick={() => onShapes(!shapes)}>{t(shapes ? 'sample.hideShapes' : 'sample.showShapes')}</Button>}
        {sample.width > 0 && <Suspense fallback={null}><UseAsExample labelSet={version.parent['label_set'] as Ref | null} sample={{ version: version.item.id, id: sample.id, url: thumbnailUrl(version.path, sample, 256), label: labels[0]?.[0] }} /></Suspense>}
      </div>
      <dl className="facts facts-small">
        {sample.width > 0 && <div><dt>{t('sample.pixels')}</dt><dd className="num">{`${sample.width} × ${sample.height}`}</dd></div>}
        {sample.duration > 0 && <div><dt>{t('sample.duration')}</dt><dd className="num">{formatMoment(sample.duration, language)}</dd></div>}
        <div><dt>{t('versions.size')}</dt><dd className="num">{formatBytes(sample.size)}</dd></div>
        {sample.split && <div><dt>{t('sample.split')}</dt><dd>{t(`split.${sample.split}`)}</dd></div>}
        {sample.sharpness !== null && <div><dt>{t('statistics.sharpness')}</dt><dd className="num">{n(sample.sharpness, 1)}</dd></div>}
        <div><dt>{t('object.updated')}</dt><dd><Time at={sample.updated_at} /></dd></div>
      </dl>
      {(labels.length > 0 || !sample.annotation.text) && <section>
        <h2>{t('sample.annotation')}</h2>
        {labels.length === 0 ? <p className="muted">{t('sample.none')}</p> : (
          <ul className="tags">{labels.map(([label, count]) => <li key={label} className="chip"><span className="dot" style={{ background: colorOf(label) }} />{label}{count > 1 && <span className="muted num">{n(count)}</span>}</li>)}</ul>
        )}
        {list.length > 0 && (
          <ol className="shape-list">
            {list.slice(0, 200).map((s, i) => (
              <li key={i}><span className="dot" style={{ background: colorOf(s.label) }} /><span>{s.label ?? t('labels.unnamed')}</span><span className="muted">{t(`shape.${s.type}`)}</span>
                <span className="muted num">{s.type === 'box' ? `${n(s.x ?? 0, 1)}, ${n(s.y ?? 0, 1)} · ${n(s.w ?? 0, 1)} × ${n(s.h ?? 0, 1)}` : ''}{s.score !== undefined ? ` · ${n(s.score, 2)}` : ''}</span>{s.text && <span className="pre">{s.text}</span>}</li>
            ))}
            {list.length > 200 && <li className="muted">{t('value.more', { n: n(list.length - 200) })}</li>}
          </ol>
        )}
      </section>}
      <Suspense fallback={null}><SampleHistory version={version} sample={sample} past={past} onPast={onPast} /></Suspense>
    </div>
  )
}
