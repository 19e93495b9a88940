import { useEffect, useId, useRef, useState, type PointerEvent } from 'react'
import { useI18n } from '../i18n'
import { bandPath, floorOf, linePath, nearest, niceTicks, thin, timeTicks, type Point, type Stretch } from './chart'
import './chart.css'

export interface Series {
  name: string
  points: readonly Point[]
  /** Where the points are means: what they are the means of. */
  band?: readonly Stretch[]
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
}

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

/** Lines over time or steps. The value under the crosshair, else the newest, stands in the heading: nothing floats. */
export function Chart(props: Props) {
  const { title, series, limit, from, to, gap, format, at, onAt, time = true, height = 140 } = props
  const { t, n, language } = useI18n()
  const [box, width] = useWidth()
  const id = useId()
  const inner = Math.max(1, width - left - right)
  const values = series.flatMap((s) => [...s.points.map(([, v]) => v), ...(s.band ?? []).flatMap(([, l, h]) => [l, h])].flatMap((v) => (v === null ? [] : [v])))
  const high = values.reduce((a, b) => Math.max(a, b), limit ?? 0)
  const low = floorOf(values, high, props.loose === true)
  const ticks = niceTicks(low, props.binary ? Math.max(high, low + 4) : high > low ? high : low + 1, 4, props.binary)
  const floor = ticks[0] ?? 0
  const ceiling = ticks[ticks.length - 1] ?? 1
  const span = Math.max(1e-9, to - from)
  const x = (v: number) => left + ((v - from) / span) * inner
  const y = (v: number) => top + (1 - (v - floor) / (ceiling - floor)) * (height - top - bottom)
  const count = Math.max(2, Math.floor(inner / 90))
  const xTicks = time ? timeTicks(from, to, count) : niceTicks(from, Math.max(to, from + 1), count).filter((v) => v >= from && v <= to && (Number.isInteger(v) || to - from < 2))
  const shown = series.map((s) => {
    const last = s.points[s.points.length - 1] ?? null
    return { name: s.name, point: at === null ? (last && last[1] !== null ? last : null) : nearest(s.points, at, Math.max(gap, span / 60)) }
  })
  const move = (event: PointerEvent<SVGSVGElement>) => {
    const rect = event.currentTarget.getBoundingClientRect()
    const there = from + ((event.clientX - rect.left - left) / inner) * span
    onAt(there < from || there > to ? null : there)
  }
  const where = at === null ? '' : time ? clock(at, span < 7_200_000, language) : n(Math.round(at))
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption id={id}>
        <strong>{title}</strong>
        {typeof limit === 'number' ? <span className="muted num">{props.limitTitle} {(props.formatLimit ?? format)(limit)}</span> : null}
        <span className="grow" />
        {where && <span className="muted num">{where}</span>}
        {shown.map((s, i) => (
          <span key={s.name} className="num chart-value">
            {series.length > 1 && <><i className={`chart-key chart-${i % 6}`} aria-hidden="true" />{s.name} </>}
            {s.point?.[1] === null || s.point?.[1] === undefined ? t('value.none') : format(s.point[1])}
          </span>
        ))}
      </figcaption>
      <div ref={box} className="chart-box" style={{ height }}>
        {width > 0 && (
          <svg width={width} height={height} role="img" aria-label={title} onPointerMove={move} onPointerLeave={() => onAt(null)}>
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
            {series.map((s, i) => {
              const points = thin(s.points.filter(([px]) => px >= from && px <= to), inner * 2)
              const last = points[points.length - 1]
              return (
                <g key={s.name} className={`chart-${i % 6}`}>
                  {s.band && <path className="chart-band" d={bandPath(s.band.filter(([px]) => px >= from && px <= to), x, y, gap)} />}
                  <path className="chart-line" d={linePath(points, x, y, gap)} />
                  {at === null && last && last[1] !== null && <circle className="chart-dot" cx={x(last[0])} cy={y(last[1])} r="2.5" />}
                </g>
              )
            })}
            {at !== null && at >= from && at <= to && <line className="chart-cross" x1={x(at)} x2={x(at)} y1={top} y2={height - bottom} />}
            {at !== null && shown.map((s, i) => s.point && s.point[1] !== null && <circle key={s.name} className={`chart-dot chart-${i % 6}`} cx={x(s.point[0])} cy={y(s.point[1])} r="3.5" />)}
          </svg>
        )}
        {values.length === 0 && <p className="chart-none muted">{t('chart.none')}</p>}
      </div>
    </figure>
  )
}
