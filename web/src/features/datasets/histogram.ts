// Histograms of sharpness: bins that follow each other from 0 up.
export interface Bin {
  from: number
  to: number
  samples: number
}

/** How many lie below a value; within a bin they are taken as evenly spread. */
export function below(bins: readonly Bin[], value: number): number {
  const sum = bins.reduce((all, b) => all + b.samples * Math.max(0, Math.min(1, (value - b.from) / (b.to - b.from))), 0)
  return Math.round(sum)
}

/** The end of a bin that is nearest to a value: 0 is before the first. */
export function endNear(bins: readonly Bin[], value: number): number {
  const ends = [0, ...bins.map((b) => b.to)]
  let best = 0
  ends.forEach((end, i) => {
    if (Math.abs(end - value) < Math.abs((ends[best] ?? 0) - value)) best = i
  })
  return best
}
