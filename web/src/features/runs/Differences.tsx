import { useQuery } from '@tanstack/react-query'
import { Select, Switch } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { versionUrl } from '../../app/links'
import { request, type Schema } from '../../api/client'
import type { Item, Kind, Ref } from '../../api/kinds'
import { formatDuration } from '../../components/format'
import { isRef } from '../../components/names'
import { ErrorState } from '../../components/States'
import { isKey, useI18n } from '../../i18n'
import { changes } from '../datasets/changes'
import { Lines } from '../files/FileCompare'
import type { Shown } from './Curves'
import { formatMetric, metricsOf, parameterRows, refsOf, refText, row, type Row } from './runs'

/** What the runs differ in: parameters, what they were made of, what came out; the code as lines, the data as counts. */
export function Differences({ kind, runs }: { kind: Kind; runs: readonly Shown[] }) {
  const { t } = useI18n()
  const [all, setAll] = useState(false)
  const [other, setOther] = useState<number | null>(null)
  const items = runs.map((run) => run.item)
  const [first, ...rest] = runs
  const second = rest.find((run) => run.item.id === other) ?? rest[0]
  return (
    <section>
      <div className="tools"><label className="switch"><Switch size="small" checked={all} onChange={setAll} /> {t('runs.same')}</label></div>
      <Rows title={t('runs.group.parameter')} runs={runs} rows={parameterRows(items)} all={all} />
      <Facts kind={kind} runs={runs} all={all} />
      <Rows title={t('runs.results')} runs={runs} rows={useResults(items)} all />
      {first && second && (
        <>
          {rest.length > 1 && (
            <div className="tools">
              <label htmlFor="runs-other">{t('runs.pair', { name: first.name })}</label>
              <Select id="runs-other" className="facet" value={second.item.id} onChange={setOther} options={rest.map((run) => ({ value: run.item.id, label: run.name }))} />
            </div>
          )}
          <Data before={first.item} after={second.item} />
          <Code before={first.item} after={second.item} />
        </>
      )}
    </section>
  )
}

function Rows({ title, runs, rows, all }: { title: string; runs: readonly Shown[]; rows: readonly Row[]; all: boolean }) {
  const { t } = useI18n()
  const shown = all ? rows : rows.filter((one) => !one.same)
  return (
    <section className="block">
      <h2>{title}</h2>
      {shown.length === 0 ? <p className="muted">{t(rows.length === 0 ? 'value.none' : 'runs.noDifference')}</p> : (
        <div className="table-box" tabIndex={0} role="group" aria-label={title}>
          <table className="table runs-rows">
            <thead><tr><th scope="col">{t('runs.what')}</th>{runs.map((run, i) => <th key={run.item.id} scope="col"><i className={`chart-key chart-${i}`} aria-hidden="true" />{run.name}</th>)}</tr></thead>
            <tbody>
              {shown.map((one) => (
                <tr key={one.key} className={one.same ? undefined : 'differs'}>
                  <th scope="row">{one.title}</th>
                  {one.values.map((value, i) => <td key={i} className="num" title={value ?? undefined}>{value ?? <span className="muted">{t('value.none')}</span>}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

const texts = ['state', 'image', 'command', 'function', 'nodes'] as const
const refs = ['datasets', 'algorithm', 'base_model', 'spec', 'model_version', 'resumed_from'] as const

function Facts({ kind, runs, all }: { kind: Kind; runs: readonly Shown[]; all: boolean }) {
  const { t, w, language } = useI18n()
  const title = (name: string) => w(kind.fields.find((f) => f.name === name)?.title) || name
  const said = (name: string, value: unknown) => { const key = `state.${String(value)}`; return name === 'state' && isKey(key) ? t(key) : value === null || value === undefined || value === '' ? null : String(value) }
  const rows = [
    ...refs.map((name) => row(name, title(name), runs.map((run) => refsOf(run.item, name).map(refText).join(', ') || null))),
    ...texts.map((name) => row(name, title(name), runs.map((run) => said(name, run.item[name])))),
    row('duration', title('duration'), runs.map((run) => (typeof run.item['duration'] === 'number' ? formatDuration(run.item['duration'], language) : null))),
  ]
  return <Rows title={t('runs.facts')} runs={runs} rows={rows.filter((one) => one.values.some((value) => value !== null))} all={all} />
}

function useResults(items: readonly Item[]): Row[] {
  const { t } = useI18n()
  const names = [...new Set(items.flatMap((item) => Object.keys(metricsOf(item))))]
  const value = (name: string, which: 'best' | 'last') => items.map((item) => { const m = metricsOf(item)[name]; return m ? formatMetric(m[which]) : null })
  return names.flatMap((name) => [row(`best ${name}`, t('runs.bestOf', { name }), value(name, 'best')), row(`last ${name}`, t('runs.lastOf', { name }), value(name, 'last'))])
}

/** The page of a version that a run names, and the number in its name. */
function useVersionUrl(kindName: string): (ref: Ref) => string | null {
  const { project, kind } = useApp()
  const sets = kind(kindName)
  return (ref) => {
    const number = Number(/^v(\d+)$/.exec(ref.name)?.[1])
    return sets && ref.of && number ? versionUrl(sets, ref.of.id, number, project) : null
  }
}

/** Versions of the same dataset: how many samples came, went and changed. */
function Data({ before, after }: { before: Item; after: Item }) {
  const { t } = useI18n()
  const [a, b] = [refsOf(before, 'datasets'), refsOf(after, 'datasets')]
  const pairs = b.flatMap((ref) => { const old = a.find((one) => one.of?.id === ref.of?.id); return old && old.id !== ref.id ? [[old, ref] as const] : [] })
  const only = (list: Ref[], others: Ref[]) => list.filter((ref) => !others.some((one) => one.of?.id === ref.of?.id))
  const [gone, came] = [only(a, b), only(b, a)]
  return (
    <section className="block">
      <h2>{t('runs.data')}</h2>
      {pairs.length + gone.length + came.length === 0 && <p className="muted">{t('runs.sameData')}</p>}
      {gone.length > 0 && <p>{t('runs.onlyFirst', { names: gone.map(refText).join(', ') })}</p>}
      {came.length > 0 && <p>{t('runs.onlyOther', { names: came.map(refText).join(', ') })}</p>}
      {pairs.map(([old, ref]) => <DataPair key={ref.id} before={old} after={ref} />)}
    </section>
  )
}

function DataPair({ before, after }: { before: Ref; after: Ref }) {
  const { t, n } = useI18n()
  const url = useVersionUrl('dataset')(after)
  const found = useQuery({
    queryKey: ['objects', 'dataset_version', 'compare', after.id, before.id, 'counts'],
    queryFn: ({ signal }) => request<Schema<'DatasetChanges'>>(`/datasets/${after.of?.id ?? 0}/versions/${after.id}/compare`, { query: { with: before.id, limit: 1 }, signal }),
  })
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const counts = changes.filter((change) => found.data?.[change])
  return (
    <p>
      {refText(before)} → {refText(after)}{': '}
      {!found.data ? '…' : found.data.added === undefined ? t('runs.largeData') : counts.length === 0 ? t('compare.same') : counts.map((change) => `${t(`change.${change}`)} ${n(found.data[change] ?? 0)}`).join(', ')}
      {url && <> <Link to={`${url}?tab=compare&with=${before.id}`}>{t('runs.seeSamples')}</Link></>}
    </p>
  )
}

/** Versions of the same code: the files that differ, and their lines. */
function Code({ before, after }: { before: Item; after: Item }) {
  const { t } = useI18n()
  const [file, setFile] = useState<string | null>(null)
  const [a, b] = [before['algorithm'], after['algorithm']].map((value) => (isRef(value) ? value : null))
  const same = a?.id === b?.id
  const comparable = !same && a?.of && b?.of && a.of.id === b.of.id
  const path = (ref: Ref | null | undefined) => (ref?.of ? `/algorithm-sets/${ref.of.id}/versions/${ref.id}` : null)
  const found = useQuery({
    queryKey: ['objects', 'algorithm_version', 'compare', b?.id ?? 0, a?.id ?? 0],
    queryFn: async ({ signal }) => (await request<Schema<'FolderChanges'>>(`${path(b) ?? ''}/compare`, { query: { with: a?.id }, signal })).items,
    enabled: Boolean(comparable),
  })
  const items = found.data ?? []
  const shown = items.find((item) => item.path === file) ?? items[0]
  return (
    <section className="block">
      <h2>{t('runs.code')}</h2>
      {same && <p className="muted">{t(a ? 'runs.sameCode' : 'runs.noCode')}</p>}
      {!same && !comparable && <p>{t('runs.otherCode', { first: a ? refText(a) : t('value.none'), other: b ? refText(b) : t('value.none') })}</p>}
      {found.error && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {comparable && found.data && items.length === 0 && <p className="muted">{t('compare.same')}</p>}
      {items.length > 0 && (
        <div className="compare">
          <ul className="compare-list">
            {items.map((item) => <li key={item.path}><span className={`tag change-${item.change}`}>{t(`change.${item.change}`)}</span><button type="button" className="link" aria-current={item === shown ? 'true' : undefined} onClick={() => setFile(item.path)}>{item.path}</button></li>)}
          </ul>
          {shown && <Lines key={shown.path} before={shown.change === 'added' ? null : path(a)} after={shown.change === 'removed' ? null : path(b)} path={shown.path} />}
        </div>
      )}
    </section>
  )
}
