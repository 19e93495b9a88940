import { useI18n } from '../../i18n'
import { problemText } from '../../components/problem'
import type { BenchStore } from './bench'
import { HistoryList, sentenceOf } from './HistoryList'
import type { Line } from './past'
import { stateAt } from './past'
import { useBenchState } from './useBench'

/** The history of the open sample; what is picked is shown on the surface. */
export function HistoryPanel({ bench }: { bench: BenchStore }) {
  const i18n = useI18n()
  const place = useBenchState(bench, (s) => s.place)
  const version = useBenchState(bench, (s) => s.version)
  const waiting = useBenchState(bench, (s) => s.status.waiting)
  const past = useBenchState(bench, (s) => s.past)
  if (!place) return null
  const pick = (line: Line | null) => {
    if (!line) return bench.set({ past: null })
    stateAt(place, line.revision).then((annotation) => {
      if (bench.state.place === place) bench.set({ past: { revision: line.revision, at: line.at, text: sentenceOf(line, i18n), annotation } })
    }, (error: unknown) => bench.say(problemText(error, i18n)))
  }
  return <HistoryList place={place} type={bench.type} stamp={waiting > 0 ? -1 : version} picked={past?.revision ?? null} onPick={pick} />
}
