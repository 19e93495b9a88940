export interface Pair<T> {
  name: string
  before: T | null
  after: T | null
}

interface Value {
  shape: readonly unknown[] | null
}

/** The member `compare` of a model's summary. */
export interface Compared {
  figures: Pair<number>[]
  inputs: Pair<Value>[]
  outputs: Pair<Value>[]
  operators: Pair<number>[]
  same_structure: boolean
}

/** "batch × 3 × 224 × 224"; a free dimension without a name is "?". */
export function shapeText(shape: readonly unknown[] | null): string {
  if (shape === null) return '?'
  return shape.length === 0 ? '1' : shape.map((d) => (typeof d === 'number' || typeof d === 'string' ? d : '?')).join(' × ')
}

/** 4650000 as "4.65 M". */
export function short(value: number): string {
  const units: [number, string][] = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]
  const unit = units.find(([size]) => value >= size)
  return unit ? `${Number((value / unit[0]).toPrecision(3))} ${unit[1]}` : String(value)
}

/** The largest ones, in the order in which they stand in the model. */
export function largestLayers<T extends { bytes: number }>(layers: readonly T[], count: number): T[] {
  const chosen = new Set([...layers].sort((a, b) => b.bytes - a.bytes).slice(0, count))
  return layers.filter((one) => chosen.has(one))
}
