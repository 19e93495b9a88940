import { useQuery } from '@tanstack/react-query'
import { Select } from 'antd'
import { useSearchParams } from 'react-router'
import { request, type Schema } from '../../api/client'
import { nameOf } from '../../components/names'
import { Empty, ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import type { Version } from './samples'
import { useVersionChoices } from './Versions'

const changes = ['added', 'removed', 'changed', 'annotated'] as const

/** Chooses the other version; kept in the address. By default the one that this was made from, or the one before. */
export function useOther(version: Version) {
  const [params, setParams] = useSearchParams()
  const choices = useVersionChoices(version.kind, version.parentKind, version.parent.id)
  const others = (choices.data ?? []).filter((v) => v.id !== version.item.id)
  const asked = Number(params.get('with')) || null
  const from = (version.item['from'] as { id: number } | null)?.id
  const other = others.find((v) => v.id === asked) ?? others.find((v) => v.id === from) ?? others.find((v) => Number(v['number']) < Number(version.item['number'])) ?? others[0] ?? null
  const choose = (id: number) => setParams((old) => { const next = new URLSearchParams(old); next.set('with', String(id)); next.delete('file'); return next }, { replace: true })
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

export function Compare({ version }: { version: Version }) {
  const { t, n } = useI18n()
  const { pending, ...rest } = useOther(version)
  const { other } = rest
  const found = useQuery({
    queryKey: ['objects', 'dataset_version', 'compare', version.item.id, other?.id ?? 0],
    queryFn: ({ signal }) => request<Schema<'DatasetChanges'>>(`${version.path}/compare`, { query: { with: other?.id }, signal }),
    enabled: other !== null,
  })
  if (!pending && !other) return <Empty title={t('compare.none')} text={t('compare.noneHint')} />
  const data = found.data
  const sum = data ? changes.reduce((all, name) => all + (data[name] ?? 0), 0) : 0
  return (
    <section>
      <OtherSelect version={version} {...rest} />
      {found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : !data ? <div className="skeleton" aria-busy="true"><div /><div /></div> : sum === 0 ? <Empty title={t('compare.same')} /> : (
        <>
          <dl className="facts facts-small">{changes.map((name) => <div key={name}><dt>{t(`change.${name}`)}</dt><dd className="num">{n(data[name] ?? 0)}</dd></div>)}</dl>
          <div className="table-box"><table className="table"><thead><tr><th scope="col">{t('gallery.name')}</th><th scope="col">{t('compare.change')}</th></tr></thead>
            <tbody>{data.items.map((item) => <tr key={`${item.name}-${item.change}`}><td>{item.name}</td><td><span className={`tag change-${item.change}`}>{t(`change.${item.change}`)}</span></td></tr>)}</tbody></table></div>
          {sum > data.items.length && <p className="muted">{t('value.more', { n: n(sum - data.items.length) })}</p>}
        </>
      )}
    </section>
  )
}
