// What the wave form of a sound needs. Pure: no React, no network.

export const speeds = [0.5, 0.75, 1, 1.25, 1.5, 2, 3] as const

/** The next speed up or down; the same at the ends. */
export function speedBy(now: number, by: number): number {
  const at = speeds.findIndex((s) => s >= now)
  const from = at < 0 ? speeds.length - 1 : at
  return speeds[Math.max(0, Math.min(speeds.length - 1, from + by))] ?? 1
}

/** Pairs of low and high, as the server has them, to what stands above and below the middle. */
export function wavesOf(peaks: readonly number[]): [above: number[], below: number[]] {
  const above: number[] = []
  const below: number[] = []
  for (let i = 0; i + 1 < peaks.length; i += 2) {
    above.push(Math.max(0, peaks[i + 1] ?? 0))
    below.push(Math.max(0, -(peaks[i] ?? 0)))
  }
  return [above, below]
}

/** "0:05.2", "1:02:03": the same width from one moment to the next. */
export function clock(seconds: number): string {
  const s = Math.max(0, seconds)
  const [h, m] = [Math.floor(s / 3600), Math.floor(s / 60) % 60]
  const rest = (Math.floor(s * 10) / 10) % 60
  const tail = h > 0 ? String(Math.floor(rest)).padStart(2, '0') : rest.toFixed(1).padStart(4, '0')
  return h > 0 ? `${h}:${String(m).padStart(2, '0')}:${tail}` : `${m}:${tail}`
}
