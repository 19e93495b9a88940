import { useInfiniteQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
import type { Item } from '../../api/kinds'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { isOver } from '../jobs/jobs'
import { MoreRows } from '../objects/MoreRows'
import '../runs/runs.css'

const pageSize = 20

/** What the code kept with `ingot.image`, by name and step. */
export function Pictures({ path, item }: { path: string; item: Item }) {
  const { t, n } = useI18n()
  const live = !isOver(item['state'])
  const found = useInfiniteQuery({
    queryKey: ['objects', 'training_instance', 'pictures', item.id, live],
    queryFn: ({ pageParam, signal }) => request<Schema<'TrainingPictures'>>(`${path}/pictures`, { query: { after: pageParam ?? undefined, limit: pageSize }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    refetchInterval: live ? 10_000 : false,
  })
  const items = found.data?.pages.flatMap((page) => page.items) ?? []
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton n={2} />
  if (items.length === 0) return <Empty title={t('runs.noPictures')} text={t('runs.noPicturesText')} />
  return (
    <>
      <ul className="runs-pictures">
        {items.map((one) => (
          <li key={one.file}>
            <figure>
              <a href={`data:${one.type};base64,${one.data}`} download={one.file}><img src={`data:${one.type};base64,${one.data}`} alt={`${one.name}, ${t('runs.atStep', { n: n(one.step ?? 0) })}`} loading="lazy" /></a>
              <figcaption><span className="clip">{one.name}</span> <span className="muted num">{t('runs.atStep', { n: n(one.step ?? 0) })}</span></figcaption>
            </figure>
          </li>
        ))}
      </ul>
      <MoreRows list={found} />
    </>
  )
}
