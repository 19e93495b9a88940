import { memo, useEffect, useRef, useState } from 'react'
import { useI18n } from '../../i18n'
import { thumbnailUrl } from '../datasets/samples'
import { Icon } from '../../components/Icon'
import type { BenchStore } from './bench'
import type { Film, Sample, SampleState } from './surface'
import { useBenchState } from './useBench'

const rowHeight = 84
const spare = 4
/** Browsers draw nothing higher than this; longer strips move by shares. */
const highest = 8_000_000

interface Props {
  bench: BenchStore
  film: Film
  /** Changes when the film does. */
  news: unknown
}

/** All samples in their order, a few of them drawn. Elements are as many as fit, whatever the length. */
export const Filmstrip = memo(function Filmstrip({ bench, film }: Props) {
  const { t } = useI18n()
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })
  const open = useBenchState(bench, (s) => s.sample?.id)
  // Of all that a stroke changes, only what is seen here.
  useBenchState(bench, (s) => s.sample && `${bench.stateOf(s.sample)} ${bench.handedIn(s.sample)}`)
  const total = Math.min(film.count * rowHeight, highest)
  // Of a strip that is too long to be drawn as it is, a place in the scroll bar stands for a share of the samples.
  const scale = film.count * rowHeight > highest ? (film.count * rowHeight - view.height) / Math.max(1, highest - view.height) : 1
  const first = Math.max(0, Math.floor((view.top * scale) / rowHeight) - spare)
  const last = Math.min(film.count, first + Math.ceil(view.height / rowHeight) + 2 * spare)
  useEffect(() => film.want(first, last), [film, first, last])
  useEffect(() => {
    const node = box.current
    if (!node) return
    const watch = new ResizeObserver(() => setView((old) => ({ ...old, height: node.clientHeight })))
    watch.observe(node)
    return () => watch.disconnect()
  }, [])
  const at = open === undefined ? undefined : film.indexOf(open)
  useEffect(() => {
    const node = box.current
    if (!node || at === undefined) return
    const place = (at * rowHeight) / scale
    if (place < node.scrollTop || place + rowHeight > node.scrollTop + node.clientHeight) node.scrollTop = place - node.clientHeight / 2 + rowHeight / 2
  }, [at, scale])
  const rows = []
  for (let index = first; index < last; index += 1) {
    const sample = film.at(index)
    rows.push(<Cell key={index} bench={bench} index={index} sample={sample} state={sample && bench.stateOf(sample)} handedIn={sample !== undefined && bench.handedIn(sample)} current={sample !== undefined && sample.id === open} top={view.top + index * rowHeight - view.top * scale} />)
  }
  return (
    <nav className="bench-film" aria-label={t('bench.samples')}>
      <div ref={box} className="film-box" onScroll={(e) => { const { scrollTop: top, clientHeight: height } = e.currentTarget; setView({ top, height }) }}>
        <div className="film-rail" style={{ height: total }}>{rows}</div>
      </div>
    </nav>
  )
})

interface CellProps {
  bench: BenchStore
  index: number
  sample: Sample | undefined
  state: SampleState | undefined
  handedIn: boolean
  current: boolean
  top: number
}

const Cell = memo(function Cell({ bench, index, sample, state, handedIn, current, top }: CellProps) {
  const { t, n } = useI18n()
  return (
    <button
      type="button" className="film-cell" style={{ top }} aria-current={current ? 'true' : undefined}
      aria-label={sample ? `${n(index + 1)}: ${sample.name}, ${handedIn ? t('bench.handedIn') : t(`sampleState.${sample.state}`)}` : t('list.loading')} disabled={!sample} onClick={() => sample && bench.open(sample.id)}
    >
      <span className="film-picture">
        {sample && (bench.dataType === 'image' ? <img key={sample.id} src={thumbnailUrl(bench.path, sample, 128)} alt="" loading="lazy" decoding="async" draggable={false} /> : <Icon name={bench.dataType === 'audio' ? 'sound' : 'file'} size={20} />)}
      </span>
      <span className="film-name"><span className="num">{n(index + 1)}</span>{handedIn ? <span className="handed-in" title={t('bench.handedIn')}><Icon name="check" size={12} /></span> : state && <span className={`state-dot state-${state}`} title={t(`sampleState.${state}`)} />}</span>
    </button>
  )
})
