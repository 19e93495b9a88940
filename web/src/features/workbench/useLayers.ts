import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { request } from '../../api/client'
import type { Annotation } from '../../canvas'
import { useLatest } from '../../components/hooks'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import { differences, inTurn, layersOf, nextDifference, noLayers, shapeOf, takeShape, type Picked } from './layers'
import type { Sample } from './surface'
import { useBenchState } from './useBench'

export type CompareStep = 'turn' | 'next' | 'previous' | 'take' | 'take-layer'

export interface Comparing {
  run(step: CompareStep): void
  pick(picked: Picked): void
  take(picked: Picked): void
  takeLayer(id: number): void
}

/** The layers of the seats of the sample under review: fetched when it is opened, walked and taken by keys. */
export function useLayers(bench: BenchStore): Comparing {
  const { t } = useI18n()
  const assignment = useBenchState(bench, (s) => s.assignment)
  const wanted = assignment?.for_review?.layers ?? []
  const { data, error } = useQuery({
    queryKey: ['objects', 'label_task', 'layers', assignment?.id ?? 0, wanted.map((l) => l.layer)],
    queryFn: async ({ signal }) => layersOf(await Promise.all(wanted.map(async ({ layer, user, late }) => {
      const { annotation } = await request<Sample>(`${bench.path}/samples/${assignment?.sample.id ?? 0}`, { query: { layer }, signal })
      return { id: layer, user, late: late === true, annotation: annotation as Annotation }
    }))),
    enabled: wanted.length > 0,
  })
  useEffect(() => {
    // What comes again is looked at as before.
    const { list, hidden, picked } = bench.state.layers
    const again = data?.list.length === list.length && data.list.every((l, i) => l.id === list[i]?.id)
    bench.set({ layers: wanted.length === 0 || !data ? noLayers : again ? { ...data, hidden, picked } : data })
  }, [bench, assignment, data, wanted.length])
  useEffect(() => {
    if (error) bench.say(t('bench.layersFailed'))
  }, [bench, error, t])

  const pick = useLatest((picked: Picked) => {
    bench.set({ layers: { ...bench.state.layers, picked } })
    bench.surface?.command(`show:${picked.shape}`)
  })
  const take = useLatest((picked: Picked) => {
    const { layers, document } = bench.state
    pick(picked)
    const changes = takeShape(layers, picked, document?.shapes ?? [])
    if (changes.length > 0) bench.change(changes)
  })
  const takeLayer = useLatest((id: number) => {
    const layer = bench.state.layers.list.find((l) => l.id === id)
    if (!layer) return
    bench.change({ op: 'replace', annotation: layer.annotation })
    bench.say(t('bench.layerTaken', { name: layer.user?.name ?? '' }))
  })
  const run = useLatest((step: CompareStep) => {
    const { layers } = bench.state
    const { list, hidden, picked } = layers
    if (list.length === 0) return bench.say(t('bench.noLayers'))
    if (step === 'turn') return bench.set({ layers: { ...layers, hidden: inTurn(layers) } })
    if (step === 'next' || step === 'previous') {
      const next = nextDifference(layers, step === 'next' ? 1 : -1)
      return next ? pick(next) : bench.say(t(differences(layers) > 0 ? 'bench.differencesHidden' : 'bench.noDifferences'))
    }
    if (step === 'take') return shapeOf(layers, picked) && picked ? take(picked) : bench.say(t('bench.pickFirst'))
    // The layer of what is picked, or the only one that is shown; with several, a person says whose.
    const seen = list.filter((l) => !hidden.has(l.id))
    const one = picked?.layer ?? (seen.length === 1 || differences(layers) === 0 ? seen[0]?.id : undefined)
    return one === undefined ? bench.say(t('bench.pickFirst')) : takeLayer(one)
  })
  return useMemo(() => ({ run, pick, take, takeLayer }), [run, pick, take, takeLayer])
}
