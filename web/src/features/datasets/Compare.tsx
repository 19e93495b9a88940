import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Segmented, Select } from 'antd'
import { Link, useSearchParams } from 'react-router'
import { request, type Schema } from '../../api/client'
import { nameOf } from '../../components/names'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { MoreRows } from '../objects/MoreRows'
import { AllChanges } from './AllChanges'
import { ChangeDrawer, ChangeTag } from './ChangeDrawer'
import { changes } from './changes'
import { thumbnailUrl, type Version } from './samples'
import { useVersionChoices } from './Versions'

const pageSize = 200

type Changes = Schema<'DatasetChanges'>
export type Change = Changes['items'][number]

/** Chooses the other version; kept in the address. By default the one that this was made from, or the one before. */
export function useOther(version: Version) {
  const [params, setParams] = useSearchParams()
  const choices = useVersionChoices(version.kind, version.parentKind, version.parent.id)
  const others = (choices.data ?? []).filter((v) => v.id !== version.item.id)
  const asked = Number(params.get('with')) || null
  const from = (version.item['from'] as { id: number } | null)?.id
  const other = others.find((v) => v.id === asked) ?? others.find((v) => v.id === from) ?? others.find((v) => Number(v['number']) < Number(version.item['number'])) ?? others[0] ?? null
  const choose = (id: number) => setParams((old) => { const next = new URLSearchParams(old); next.set('with', String(id)); for (const name of ['file', 'change', 'name']) next.delete(name); return next }, { replace: true })
  return { others, other, choose, pending: choices.isPending }
}

export function OtherSelect({ version, others, other, choose }: { version: Version } & Omit<ReturnType<typeof useOther>, 'pending'>) {
  const { t } = useI18n()
  return (
    <div className="tools">
      <label htmlFor="compare-with">{t('compare.with')}</label>
      <Select id="compare-with" className="facet" value={other?.id ?? null} onChange={choose} options={others.map((v) => ({ value: v.id, label: nameOf(version.kind, v) }))} />
      {other && <span className="muted">{t('compare.direction', { from: nameOf(version.kind, other), to: nameOf(version.kind, version.item) })}</span>}
    </div>
  )
}

/** What differs between two versions of a dataset: which samples, and of each what it was and what it is. */
export function Compare({ version }: { version: Version }) {
  const { t, n } = useI18n()
  const [params, setParams] = useSearchParams()
  const { pending, ...rest } = useOther(version)
  const { other } = rest
  const change = changes.find((c) => c === params.get('change')) ?? ''
  const open = params.get('name')
  const set = (name: string, value: string | null) => setParams((old) => { const next = new URLSearchParams(old); if (value) next.set(name, value); else next.delete(name); return next }, { replace: true })
  const to = (name: string) => { const next = new URLSearchParams(params); next.set('name', name); return `?${next.toString()}` }
  const found = useInfiniteQuery({
    queryKey: ['objects', 'dataset_version', 'compare', version.item.id, other?.id ?? 0, change],
    queryFn: ({ pageParam, signal }) => request<Changes>(`${version.path}/compare`, { query: { with: other?.id, change: change || undefined, after: pageParam ?? undefined, limit: pageSize }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    enabled: other !== null,
    placeholderData: keepPreviousData,
  })
  const items = found.data?.pages.flatMap((page) => page.items) ?? []
  const at = items.findIndex((item) => item.name === open)
  // An address may name one that is on no page yet: that one, and the one after it.
  const apart = useQuery({
    queryKey: ['objects', 'dataset_version', 'compare', version.item.id, other?.id ?? 0, change, 'from', open],
    queryFn: ({ signal }) => request<Changes>(`${version.path}/compare`, { query: { with: other?.id, change: change || undefined, from: open, limit: 2 }, signal }),
    enabled: other !== null && open !== null && at < 0 && found.isSuccess && found.hasNextPage,
  })
  const lone = open !== null && apart.data?.items[0]?.name === open ? apart.data.items : []
  const shown = items[at] ?? lone[0]
  const previous = items[at - 1]?.name
  const next = at >= 0 ? items[at + 1]?.name : lone[1]?.name
  const gone = open !== null && !shown && found.isSuccess && !found.isPlaceholderData && (!found.hasNextPage || apart.isSuccess)
  if (!pending && !other) return <Empty title={t('compare.none')} text={t('compare.noneHint')} />
  const first = found.data?.pages[0]
  // Of many samples no request counts all: a task does, when somebody asks for it.
  const large = first !== undefined && first.added === undefined
  const counts = large ? null : first
  const sum = counts ? changes.reduce((all, name) => all + (counts[name] ?? 0), 0) : 0
  const label = (name: (typeof changes)[number]) => (counts ? `${t(`change.${name}`)} ${n(counts[name] ?? 0)}` : t(`change.${name}`))
  const otherPath = `/${version.parentKind.plural}/${version.parent.id}/versions/${other?.id ?? 0}`
  return (
    <section>
      <OtherSelect version={version} {...rest} />
      {gone && <p className="muted" role="status">{t('compare.gone', { name: open })}</p>}
      {large && other && <AllChanges version={version} other={other.id} />}
      {found.error && !first ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : !first ? <Skeleton n={2} /> : (counts ? sum === 0 : items.length === 0 && !found.hasNextPage && change === '') ? <Empty title={t('compare.same')} /> : (
        <>
          <div className="tools">
            <Segmented<string>
              aria-label={t('compare.change')} value={change} onChange={(value) => set('change', value)}
              options={[{ value: '', label: counts ? `${t('compare.all')} ${n(sum)}` : t('compare.all') }, ...changes.filter((name) => !counts || counts[name] || name === change).map((name) => ({ value: name as string, label: label(name) }))]}
            />
          </div>
          <div className="table-box">
            <table className="table compared">
              <thead><tr>{version.parent['data_type'] === 'image' && <th scope="col" className="thumb-head"><span className="visually-hidden">{t('compare.picture')}</span></th>}<th scope="col">{t('gallery.name')}</th><th scope="col">{t('compare.change')}</th></tr></thead>
              <tbody>
                {items.map((item) => (
                  <tr key={item.name}>
                    {version.parent['data_type'] === 'image' && <td className="thumb-cell"><img className="thumb" src={item.after !== null ? thumbnailUrl(version.path, { id: item.after }, 128) : thumbnailUrl(otherPath, { id: item.before ?? 0 }, 128)} alt="" loading="lazy" /></td>}
                    <td className="first"><Link className="row-name" replace to={to(item.name)}>{item.name}</Link></td>
                    <td><ChangeTag change={item} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <MoreRows list={found} />
        </>
      )}
      {shown && other && (
        <ChangeDrawer
          version={version} other={{ path: otherPath, name: nameOf(version.kind, other) }} change={shown} onClose={() => set('name', null)}
          onPrevious={previous !== undefined ? () => set('name', previous) : undefined}
          onNext={next !== undefined ? () => set('name', next) : undefined}
        />
      )}
    </section>
  )
}
