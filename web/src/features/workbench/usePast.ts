import { useEffect, useMemo, useRef } from 'react'
import { newId, type Annotation, type Change, type Shape } from '../../canvas'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import type { Source } from './source'

/** What was done before, done again here: the last shape, or all of the sample before. */
export function usePast(bench: BenchStore, source: Source): { copyPrevious: () => void; repeat: () => void } {
  const { t } = useI18n()
  const last = useRef<Shape | null>(null)
  const document = bench.state.document
  useEffect(() => document?.listen(({ changes, origin }) => {
    if (origin !== 'local') return
    for (const change of changes) if (change.op === 'put') last.current = change.shape
  }), [document])
  return useMemo(() => {
    const again = (shapes: readonly Shape[]) => {
      const { document: now } = bench.state
      if (!now) return
      const { width, height } = now
      const fits = (s: Shape) => s.type !== 'box' || width === 0 || (s.x < width && s.y < height)
      const put = shapes.filter(fits).map((s): Change => ({ op: 'put', shape: { ...s, id: newId() } }))
      bench.change(put)
      bench.set({ selection: put.flatMap((c) => (c.op === 'put' ? [c.shape.id] : [])) })
    }
    return {
      copyPrevious: () => {
        const { sample, document: now } = bench.state
        const index = sample ? source.film.indexOf(sample.id) : undefined
        const before = index === undefined ? undefined : source.film.at(index - 1)
        if (!before || !now) return bench.say(t('bench.noPrevious'))
        const { shapes, labels }: Annotation = bench.annotationOf(before)
        const changes = (labels ?? []).filter((label) => !now.labels.includes(label)).map((label): Change => ({ op: 'label', label, on: true }))
        if (changes.length > 0) bench.change(changes)
        if (shapes && shapes.length > 0) again(shapes)
      },
      repeat: () => (last.current ? again([last.current]) : bench.say(t('bench.nothingToRepeat'))),
    }
  }, [bench, source, t])
}
