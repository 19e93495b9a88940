import { useEffect, useId, useRef, useState, type PointerEvent, type ReactNode } from 'react'
import { useI18n } from '../i18n'
import { bandPath, floorOf, linePath, logTicks, nearest, niceTicks, positive, thin, timeTicks, type Point, type Stretch } from './chart'
import './chart.css'

export interface Series {
  name: string
  points: readonly Point[]
  /** Where the points are means: what they are the means of. */
  band?: readonly Stretch[]
  /** What a smoothed line was made from, drawn faintly. */
  raw?: readonly Point[]
  /** The best one, marked. */
  best?: Point | null
  /** Which colour: as where the same thing stands elsewhere. */
  color?: number
}

interface Props {
  title: string
  series: readonly Series[]
  /** A line at the top of what is allowed. */
  limit?: number | null
  limitTitle?: string
  /** When a limit is not said as a value is. */
  formatLimit?: (value: number) => string
  from: number
  to: number
  /** A longer way between two points is a gap. */
  gap: number
  /** x is a time in ms, or a number. */
  time?: boolean
  format: (value: number) => string
  /** On the axis, where there is less room. */
  tick?: (value: number) => string
  binary?: boolean
  /** The axis begins near the lowest value where the curve would otherwise be a flat line far from 0. */
  loose?: boolean
  /** The crosshair, shared by charts that stand together. */
  at: number | null
  onAt: (x: number | null) => void
  height?: number
  /** Logarithmic axes; what is not above 0 is a gap. */
  log?: boolean
  logX?: boolean
  /** A stretch that was drawn with the pointer; null: the whole, by a double click. */
  onZoom?: (range: readonly [number, number] | null) => void
  /** Buttons of this chart. */
  tools?: ReactNode
}

/** Colours that there are. */
export const chartColors = 10

const left = 64
const right = 8
const top = 8
const bottom = 20

function useWidth(): [React.RefObject<HTMLDivElement>, number] {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const node = box.current
    if (!node) return
    const look = () => setWidth(Math.floor(node.clientWidth))
    look()
    const observer = new ResizeObserver(look)
    observer.observe(node)
    return () => observer.disconnect()
  }, [])
  return [box, width]
}

export function clock(ms: number, seconds: boolean, language: string): string {
  return new Date(ms).toLocaleTimeString(language === 'zh' ? 'zh-CN' : 'en-GB', { hour: '2-digit', minute: '2-digit', ...(seconds ? { second: '2-digit' } : {}), hour12: false })
}

type Scale = (v: number) => number

/** From values to the picture along one axis, linear or by powers of ten. */
function scaleOf(from: number, to: number, start: number, length: number, log: boolean): Scale {
  const of = (v: number) => (log ? Math.log10(Math.max(v, 1e-300)) : v)
  const span = of(to) - of(from)
  return (v) => start + ((of(v) - of(from)) / (span > 0 ? span : 1)) * length
}

/** The ticks of the vertical axis; the first and the last are its ends. */
function levels(series: readonly Series[], { limit, loose, binary, log }: Props): number[] {
  const values = series.flatMap((s) => [...s.points.map(([, v]) => v), ...(s.band ?? []).flatMap(([, l, h]) => [l, h]), ...(s.raw ?? []).map(([, v]) => v)].flatMap((v) => (v === null || (log && v <= 0) ? [] : [v])))
  const high = values.reduce((a, b) => Math.max(a, b), log ? 0 : limit ?? 0)
  if (log) return logTicks(values.reduce((a, b) => Math.min(a, b), Infinity), high)
  const low = floorOf(values, high, loose === true)
  return niceTicks(low, binary ? Math.max(high, low + 4) : high > low ? high : low + 1, 4, binary)
}

/** A stretch that is being drawn with the pointer. */
function useStretch(valueAt: (event: PointerEvent<SVGSVGElement>) => number, x: Scale, onZoom: Props['onZoom']) {
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null)
  return {
    drag,
    down: (event: PointerEvent<SVGSVGElement>) => {
      if (!onZoom || event.button !== 0 || event.pointerType === 'touch') return
      const at = valueAt(event)
      event.currentTarget.setPointerCapture(event.pointerId)
      setDrag({ from: at, to: at })
    },
    move: (at: number) => setDrag((old) => old && { ...old, to: at }),
    up: () => {
      setDrag(null)
      if (drag && Math.abs(x(drag.to) - x(drag.from)) > 8) onZoom?.([Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)])
    },
  }
}

/** Lines over time or steps. The value under the crosshair, else the newest, stands in the heading: nothing floats. */
export function Chart(props: Props) {
  const { title, limit, from, to, gap, format, at, onAt, onZoom, time = true, log = false, logX = false, height = 140 } = props
  const { t, n, language } = useI18n()
  const [box, width] = useWidth()
  const id = useId()
  const inner = Math.max(1, width - left - right)
  const series = log ? props.series.map((s) => ({ ...s, points: positive(s.points), raw: s.raw && positive(s.raw) })) : props.series
  const none = !series.some((s) => s.points.some(([, v]) => v !== null))
  const ticks = levels(series, props)
  const span = Math.max(1e-9, to - from)
  const x = scaleOf(from, to, left, inner, logX)
  const y = scaleOf(ticks[0] ?? 0, ticks[ticks.length - 1] ?? 1, height - bottom, -(height - top - bottom), log)
  const color = (i: number) => `chart-${(series[i]?.color ?? i) % chartColors}`
  const count = Math.max(2, Math.floor(inner / 90))
  const xTicks = time ? timeTicks(from, to, count) : (logX ? logTicks(from, to) : niceTicks(from, Math.max(to, from + 1), count)).filter((v) => v >= from && v <= to && (Number.isInteger(v) || to - from < 2))
  const shown = series.map((s) => {
    const last = s.points[s.points.length - 1] ?? null
    return { name: s.name, point: at === null ? (last && last[1] !== null ? last : null) : nearest(s.points, at, Math.max(gap, span / 60)) }
  })
  const valueAt = (event: PointerEvent<SVGSVGElement>) => {
    const share = Math.min(1, Math.max(0, (event.clientX - event.currentTarget.getBoundingClientRect().left - left) / inner))
    return logX ? from * (to / from) ** share : from + share * span
  }
  const stretch = useStretch(valueAt, x, onZoom)
  const move = (event: PointerEvent<SVGSVGElement>) => {
    const inside = event.clientX - event.currentTarget.getBoundingClientRect().left
    stretch.move(valueAt(event))
    onAt(inside < left || inside > left + inner ? null : valueAt(event))
  }
  const where = at === null ? '' : time ? clock(at, span < 7_200_000, language) : n(Math.round(at))
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption id={id}>
        <strong>{title}</strong>
        {props.tools}
        {typeof limit === 'number' ? <span className="muted num">{props.limitTitle} {(props.formatLimit ?? format)(limit)}</span> : null}
        <span className="grow" />
        {where && <span className="muted num">{where}</span>}
        {shown.map((s, i) => (
          <span key={s.name} className="num chart-value">
            {series.length > 1 && <><i className={`chart-key ${color(i)}`} aria-hidden="true" />{s.name} </>}
            {s.point?.[1] === null || s.point?.[1] === undefined ? t('value.none') : format(s.point[1])}
          </span>
        ))}
      </figcaption>
      <div ref={box} className="chart-box" style={{ height }}>
        {width > 0 && (
          <svg width={width} height={height} role="img" aria-label={title} onPointerMove={move} onPointerLeave={() => onAt(null)} onPointerDown={stretch.down} onPointerUp={stretch.up} onDoubleClick={onZoom && (() => onZoom(null))}>
            {ticks.map((v) => (
              <g key={v}>
                <line className="chart-grid" x1={left} x2={left + inner} y1={y(v)} y2={y(v)} />
                <text className="chart-label" x={left - 8} y={y(v) + 4} textAnchor="end">{(props.tick ?? format)(v)}</text>
              </g>
            ))}
            {xTicks.map((v) => (
              <text key={v} className="chart-label" x={Math.min(x(v), left + inner - 16)} y={height - 4} textAnchor="middle">{time ? clock(v, span < 120_000, language) : n(v)}</text>
            ))}
            {typeof limit === 'number' ? <line className="chart-limit" x1={left} x2={left + inner} y1={y(limit)} y2={y(limit)} /> : null}
            <clipPath id={`${id}-plot`}><rect x={left - 6} y={0} width={inner + 12} height={height} /></clipPath>
            <g clipPath={`url(#${id}-plot)`}>{series.map((s, i) => <Line key={s.name} className={color(i)} series={s} x={x} y={y} from={from} to={to} gap={gap} most={inner * 2} open={at === null} bestTitle={t('chart.best')} />)}</g>
            {stretch.drag && <rect className="chart-stretch" x={Math.min(x(stretch.drag.from), x(stretch.drag.to))} width={Math.abs(x(stretch.drag.to) - x(stretch.drag.from))} y={top} height={height - top - bottom} />}
            {at !== null && at >= from && at <= to && <line className="chart-cross" x1={x(at)} x2={x(at)} y1={top} y2={height - bottom} />}
            {at !== null && shown.map((s, i) => s.point && s.point[1] !== null && <circle key={s.name} className={`chart-dot ${color(i)}`} cx={x(s.point[0])} cy={y(s.point[1])} r="3.5" />)}
          </svg>
        )}
        {none && <p className="chart-none muted">{t('chart.none')}</p>}
      </div>
    </figure>
  )
}

interface LineProps { className: string; series: Series; x: Scale; y: Scale; from: number; to: number; gap: number; most: number; open: boolean; bestTitle: string }

function Line({ className, series: s, x, y, from, to, gap, most, open, bestTitle }: LineProps) {
  const inSight = (list: readonly Point[]) => {
    // With the neighbours beyond both ends: a line that was zoomed into goes on to the edge.
    const first = list.findIndex(([px]) => px >= from)
    const last = list.findLastIndex(([px]) => px <= to)
    return first < 0 || last < 0 ? [] : thin(list.slice(Math.max(0, first - 1), last + 2), most)
  }
  const points = inSight(s.points)
  const last = points[points.length - 1]
  const best = s.best && s.best[1] !== null && s.best[0] >= from && s.best[0] <= to ? s.best : null
  return (
    <g className={className}>
      {s.band && <path className="chart-band" d={bandPath(s.band.filter(([px]) => px >= from && px <= to), x, y, gap)} />}
      {s.raw && <path className="chart-line chart-raw" d={linePath(inSight(s.raw), x, y, gap)} />}
      <path className="chart-line" d={linePath(points, x, y, gap)} />
      {open && last && last[1] !== null && last[0] <= to && <circle className="chart-dot" cx={x(last[0])} cy={y(last[1])} r="2.5" />}
      {best && <path className="chart-best" d={`M${x(best[0]).toFixed(1)} ${(y(best[1] ?? 0) - 4.5).toFixed(1)}l4.5 4.5l-4.5 4.5l-4.5 -4.5z`}><title>{bestTitle}</title></path>}
    </g>
  )
}
