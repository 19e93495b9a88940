import { useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
import { formatBytes, formatMoment } from '../../components/format'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { Bars, Block } from './Bars'
import type { Version } from './samples'

type Range = Schema<'DatasetSizes'>['bytes'][number]

/** How large the samples are: pixels of pictures, length of sounds, bytes of all. */
export function Sizes({ version }: { version: Version }) {
  const { t, language } = useI18n()
  const found = useQuery({
    queryKey: ['objects', 'dataset_version', 'sizes', version.item.id],
    queryFn: ({ signal }) => request<Schema<'DatasetSizes'>>(`${version.path}/sizes`, { signal }),
  })
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const data = found.data
  if (!data) return <Skeleton n={1} />
  const pixels = data.pixels.map((p) => ({ key: `${p.width}x${p.height}`, title: `${p.width} × ${p.height}`, value: p.samples }))
  const ranges = (list: Range[], format: (value: number) => string) => list.map((r) => ({ key: String(r.from), title: `${format(r.from)} – ${format(r.to)}`, value: r.samples }))
  return (
    <>
      {pixels.length > 0 && (
        <Block title={t('statistics.pixels')}>
          <Bars label={t('statistics.pixels')} rows={[...pixels, ...(data.other_pixels > 0 ? [{ key: 'other', title: t('statistics.otherPixels'), value: data.other_pixels }] : [])]} />
        </Block>
      )}
      {data.seconds.length > 0 && <Block title={t('statistics.seconds')}><Bars label={t('statistics.seconds')} rows={ranges(data.seconds, (v) => formatMoment(v, language))} /></Block>}
      {data.bytes.length > 0 && <Block title={t('statistics.bytes')}><Bars label={t('statistics.bytes')} rows={ranges(data.bytes, formatBytes)} /></Block>}
    </>
  )
}
