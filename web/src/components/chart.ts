// The arithmetic of charts, free of drawing. Points are [x, y] in order of x; a null y, or a long way without a
// point, is a gap.
export type Point = readonly [x: number, y: number | null]

/** Round numbers from 0 (or below) to at least the highest value. */
export function niceTicks(low: number, high: number, count: number, binary = false): number[] {
  const span = high - low
  if (!(span > 0) || !Number.isFinite(span)) return [low, low + 1]
  const raw = span / count
  const base = binary ? 2 : 10
  const power = binary ? 2 ** Math.floor(Math.log2(raw)) : 10 ** Math.floor(Math.log10(raw))
  const step = (binary ? [1, 2] : [1, 2, 2.5, 5, 10]).map((m) => m * power).find((s) => s >= raw * 0.999) ?? power * base
  const first = Math.floor(low / step) * step
  const ticks = [first]
  for (let i = 1; (ticks[ticks.length - 1] ?? 0) < high - step * 1e-9 && i < 50; i += 1) ticks.push(first + i * step)
  return ticks
}

/** Ticks of a logarithmic axis around positive values: powers of ten, with 2 and 5 where there are few. */
export function logTicks(low: number, high: number): number[] {
  const [from, to] = low > 0 && high >= low ? [low, high] : [0.1, 1]
  const first = Math.floor(Math.log10(from) + 1e-9)
  const last = Math.max(first + 1, Math.ceil(Math.log10(to) - 1e-9))
  const every = Math.max(1, Math.ceil((last - first) / 6))
  const ticks = []
  for (let power = first; power < last + every; power += every) ticks.push(10 ** power)
  if (last - first > 1) return ticks
  const finer = ticks.flatMap((tick) => [tick, 2 * tick, 5 * tick]).map((tick) => Number(tick.toPrecision(6)))
  const begin = finer.filter((tick) => tick <= from * 1.0001).length - 1
  const end = finer.findIndex((tick) => tick >= to * 0.9999)
  const tight = finer.slice(Math.max(0, begin), end < 0 ? undefined : end + 1)
  return tight.length > 1 ? tight : finer.slice(Math.max(0, begin - 1), Math.max(0, begin - 1) + 2)
}

/** What a logarithmic axis has no place for is a gap. */
export function positive(points: readonly Point[]): Point[] {
  return points.map(([x, y]) => [x, y !== null && y > 0 ? y : null] as const)
}

/** Each as the mean of those before it, which count less the further back they are; the first ones are not pulled to 0. */
export function smoothed(points: readonly Point[], weight: number): readonly Point[] {
  if (weight <= 0) return points
  let sum = 0
  let all = 0
  return points.map(([x, y]) => {
    if (y === null || !Number.isFinite(y)) return [x, null] as const
    sum = weight * sum + (1 - weight) * y
    all = weight * all + (1 - weight)
    return [x, sum / all] as const
  })
}

/** The least or the greatest; null of none. The first of equal ones. */
export function bestPoint(points: readonly Point[], lower: boolean): Point | null {
  let best: Point | null = null
  for (const point of points) {
    const [, y] = point
    if (y === null || !Number.isFinite(y)) continue
    if (best === null || (lower ? y < (best[1] ?? 0) : y > (best[1] ?? 0))) best = point
  }
  return best
}

/** Where the axis begins: at 0, or below; with `loose` above it when all values lie in the upper half. */
export function floorOf(values: readonly number[], high: number, loose: boolean): number {
  const lowest = values.reduce((a, b) => Math.min(a, b), Infinity)
  if (!Number.isFinite(lowest)) return 0
  return loose && lowest > high / 2 && lowest < high ? lowest : Math.min(0, lowest)
}

const timeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map((s) => s * 1000)

/** Times at whole seconds, minutes or hours of the reader's clock. */
export function timeTicks(from: number, to: number, count: number): number[] {
  const raw = (to - from) / count
  const step = timeSteps.find((s) => s >= raw) ?? Math.ceil(raw / 86_400_000) * 86_400_000
  const zone = new Date(to).getTimezoneOffset() * 60_000
  const ticks = []
  for (let t = Math.ceil((from - zone) / step) * step + zone; t <= to; t += step) ticks.push(t)
  return ticks
}

/** The path of a line; moves without drawing over gaps. A point with gaps on both sides is drawn as a dot. */
export function linePath(points: readonly Point[], x: (v: number) => number, y: (v: number) => number, gap: number): string {
  let path = ''
  let last: number | null = null
  for (const [px, py] of points) {
    if (py === null || !Number.isFinite(py)) {
      last = null
      continue
    }
    const there = `${x(px).toFixed(1)} ${y(py).toFixed(1)}`
    path += last === null || px - last > gap ? `M${there}h.01` : `L${there}`
    last = px
  }
  return path
}

/** From the least to the greatest of each stretch of time. */
export type Stretch = readonly [x: number, low: number | null, high: number | null]

/** The points of one value, and where they are means what each is the mean of. */
export function banded<V extends object>(items: readonly (V & { low?: V; high?: V })[], x: (item: V, i: number) => number, value: (of: V) => number | null): { points: Point[]; band?: Stretch[] } {
  const points = items.map((p, i) => [x(p, i), value(p)] as const)
  if (!items[0]?.low) return { points }
  return { points, band: items.map((p, i) => [x(p, i), p.low ? value(p.low) : null, p.high ? value(p.high) : null] as const) }
}

/** One closed shape for each run of stretches without a gap. */
export function bandPath(band: readonly Stretch[], x: (v: number) => number, y: (v: number) => number, gap: number): string {
  let path = ''
  let there: string[] = []
  let back: string[] = []
  let last: number | null = null
  const close = () => {
    if (there.length > 1) path += `M${there.join('L')}L${back.reverse().join('L')}Z`
    there = []
    back = []
  }
  for (const [px, low, high] of band) {
    const known = low !== null && high !== null
    if (!known || (last !== null && px - last > gap)) close()
    last = known ? px : null
    if (!known) continue
    there.push(`${x(px).toFixed(1)} ${y(high).toFixed(1)}`)
    back.push(`${x(px).toFixed(1)} ${y(low).toFixed(1)}`)
  }
  close()
  return path
}

/** The point nearest to x; null when none is within reach. */
export function nearest(points: readonly Point[], x: number, reach: number): Point | null {
  let low = 0
  let high = points.length - 1
  if (high < 0) return null
  while (low < high) {
    const mid = (low + high) >> 1
    if ((points[mid]?.[0] ?? 0) < x) low = mid + 1
    else high = mid
  }
  const after = points[low] ?? null
  const before = points[low - 1] ?? null
  const best = !before || (after && Math.abs(after[0] - x) < Math.abs(before[0] - x)) ? after : before
  return best && Math.abs(best[0] - x) <= reach ? best : null
}

/** At most about `most` points: of each bucket the lowest and the highest, so that peaks stay. */
export function thin(points: readonly Point[], most: number): readonly Point[] {
  if (points.length <= most) return points
  const size = Math.ceil((points.length * 2) / most)
  const kept: Point[] = []
  for (let i = 0; i < points.length; i += size) {
    let low = -1
    let high = -1
    for (let k = i; k < Math.min(i + size, points.length); k += 1) {
      const y = points[k]?.[1]
      if (y === null || y === undefined) continue
      if (low < 0 || y < (points[low]?.[1] ?? 0)) low = k
      if (high < 0 || y > (points[high]?.[1] ?? 0)) high = k
    }
    for (const k of low === high ? [low] : low < high ? [low, high] : [high, low]) {
      const point = points[k]
      if (point) kept.push(point)
    }
  }
  return kept
}
