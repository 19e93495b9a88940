import { memo, useEffect, useRef } from 'react'
import { decodeMask } from './mask'
import type { ColorOf, Shape } from './samples'

/** The shapes of an annotation over their picture, in the picture's own pixels. */
export const Shapes = memo(function Shapes({ shapes, width, height, colorOf, names }: { shapes: Shape[] | undefined; width: number; height: number; colorOf: ColorOf; names?: boolean }) {
  if (!shapes?.length || width <= 0 || height <= 0) return null
  return (
    <>
      {shapes.filter((s) => s.type === 'mask').map((s, i) => <Mask key={i} shape={s} color={colorOf(s.label)} />)}
      <svg className="shapes" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="xMidYMid meet" aria-hidden="true">
        {shapes.map((shape, i) => <One key={i} shape={shape} color={colorOf(shape.label)} unit={Math.max(width, height) / 100} names={names === true} />)}
      </svg>
    </>
  )
})

function One({ shape, color, unit, names }: { shape: Shape; color: string; unit: number; names: boolean }) {
  const line = { stroke: color, fill: color, fillOpacity: 0.12, strokeWidth: 2, vectorEffect: 'non-scaling-stroke' as const }
  const { x = 0, y = 0, w = 0, h = 0 } = shape
  const text = names && shape.label && (shape.type === 'box' || shape.type === 'polygon') ? shape.label : null
  const [tx, ty] = shape.type === 'box' ? [x, y] : [shape.rings?.[0]?.[0] ?? 0, shape.rings?.[0]?.[1] ?? 0]
  return (
    <g data-label={shape.label}>
      {shape.type === 'box' && <rect x={x} y={y} width={w} height={h} transform={shape.angle ? `rotate(${shape.angle} ${x + w / 2} ${y + h / 2})` : undefined} {...line} />}
      {shape.type === 'polygon' && <path d={[...(shape.rings ?? []), ...(shape.holes ?? [])].map(ring).join(' ')} fillRule="evenodd" {...line} />}
      {shape.type === 'keypoints' && shape.points?.filter(([, , v]) => v > 0).map(([px, py, v], i) => <circle key={i} cx={px} cy={py} r={unit} {...line} fillOpacity={v > 1 ? 0.9 : 0.2} />)}
      {text && <text x={tx} y={Math.max(unit * 2.6, ty - unit * 0.6)} fontSize={unit * 2.6} fill="#fff" stroke="#000" strokeWidth={unit * 0.5} paintOrder="stroke">{text}</text>}
    </g>
  )
}

function ring(points: number[]): string {
  let d = ''
  for (let i = 0; i + 1 < points.length; i += 2) d += `${i === 0 ? 'M' : 'L'}${points[i]} ${points[i + 1]}`
  return `${d}Z`
}

function Mask({ shape, color }: { shape: Shape; color: string }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [height, width] = shape.size ?? [0, 0]
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || !shape.counts || width * height === 0 || width * height > 40_000_000) return
    const picture = context.createImageData(width, height)
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16)) as [number, number, number]
    const bits = decodeMask(shape.counts, width, height)
    for (let i = 0; i < bits.length; i += 1) if (bits[i]) picture.data.set([r, g, b, 110], i * 4)
    context.putImageData(picture, 0, 0)
  }, [shape, color, width, height])
  return <canvas ref={canvas} className="shapes" width={width} height={height} aria-hidden="true" />
}
