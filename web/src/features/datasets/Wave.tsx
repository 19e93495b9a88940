import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { soundPeaks } from './peaks'

const width = 360
const height = 40

/** The wave form of a sound; what has been played stands out. */
export function Wave({ path, sample, at }: { path: string; sample: { id: number; digest: string; size: number }; at: number }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const peaks = useQuery({
    queryKey: ['sample-peaks', sample.digest],
    queryFn: ({ signal }) => soundPeaks(path, sample, width / 3, signal),
    staleTime: Infinity,
    retry: false,
  })
  useEffect(() => {
    if (canvas.current && peaks.data) draw(canvas.current, peaks.data, at)
  }, [peaks.data, at])
  return <canvas ref={canvas} className="line-wave" width={width * 2} height={height * 2} aria-hidden="true" />
}

/** Colours come from the style sheet, so that both themes have theirs. */
function draw(canvas: HTMLCanvasElement, peaks: readonly number[], at: number): void {
  const context = canvas.getContext('2d')
  if (!context) return
  const style = getComputedStyle(canvas)
  const [over, rest] = [style.getPropertyValue('--link'), style.getPropertyValue('--muted')]
  const count = peaks.length / 2
  const step = canvas.width / count
  const middle = canvas.height / 2
  context.clearRect(0, 0, canvas.width, canvas.height)
  for (let i = 0; i < count; i += 1) {
    const [low = 0, high = 0] = [peaks[2 * i], peaks[2 * i + 1]]
    const top = middle - high * middle
    context.fillStyle = (i + 0.5) / count < at ? over : rest
    context.fillRect(i * step, Math.min(top, middle - 1), Math.max(1, step - 2), Math.max(2, (high - low) * middle))
  }
}
