import type { Item } from '../../api/kinds'
import { useI18n } from '../../i18n'
import { Curves } from '../runs/Curves'

/** The numbers that the training's log tells, as they come. */
export function Metrics({ path, item }: { path: string; item: Item }) {
  const { t, n } = useI18n()
  const training = (item['training'] as { id?: number } | null)?.id ?? 0
  const left = Object.entries((item['summary'] as { left_out?: Record<string, number> } | null)?.left_out ?? {}).filter(([, count]) => count > 0)
  return (
    <>
      {left.length > 0 && <ul className="note">{left.map(([why, count]) => <li key={why}>{t(`runs.left.${why}` as 'runs.left.not_finite', { n: n(count) })}</li>)}</ul>}
      <Curves runs={[{ item, name: '', path }]} scope={`training-${training}`} />
    </>
  )
}
