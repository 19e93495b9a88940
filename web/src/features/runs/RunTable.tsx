import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { Button, Checkbox } from 'antd'
import { useMemo, useRef, useState } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { useKeys, type Shortcut } from '../../app/keys'
import { childUrl, compareRunsUrl } from '../../app/links'
import { request } from '../../api/client'
import type { Item, Kind, Page } from '../../api/kinds'
import { allItems, pageSize } from '../../api/objects'
import { offers } from '../../api/session'
import { useNarrow } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { isRef, nameOf } from '../../components/names'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { Dialogs, type Open } from '../objects/Dialogs'
import { filterOf, isNarrowed } from '../objects/filters'
import { ListTools } from '../objects/ListTools'
import { MoreRows } from '../objects/MoreRows'
import { RowActions } from '../objects/rows'
import { RunCell, useColumnTitle } from './cells'
import { ColumnPicker } from './ColumnPicker'
import { Conditions } from './Conditions'
import { useKeptList } from './kept'
import { columnOf, columnsIn, conditionOf, conditionText, expressionOf, idsOf, metricsOf, mostRuns, sortOf, usualColumns, type Condition } from './runs'
import './runs.css'

interface Props {
  kind: Kind
  /** Whose runs these are; without one those of the whole project. */
  training?: Item
}

/** The tools of lists look at these fields: all others are conditions of their own. */
function searched(kind: Kind): Kind {
  return { ...kind, verbs: [...kind.verbs, 'create'], fields: kind.fields.filter((f) => ['name', 'state'].includes(f.name)) }
}

function useRuns(kind: Kind, training: Item | undefined, params: URLSearchParams, conditions: readonly Condition[]) {
  const { project } = useApp()
  const filter = [filterOf(searched(kind), params), ...conditions.map(expressionOf)].filter(Boolean).join(' and ') || undefined
  const path = training ? `/trainings/${training.id}/${kind.plural}` : `/${kind.collection ?? ''}`
  const query = { q: params.get('q') || undefined, sort: params.get('sort') || undefined, mine: params.get('mine') === '1' || undefined, filter }
  return useInfiniteQuery({
    queryKey: ['objects', kind.name, 'list', 'runs', project?.id ?? 0, training?.id ?? 0, query],
    queryFn: ({ pageParam, signal }) => request<Page>(path, { query: { ...query, project: training ? undefined : project?.id, limit: pageSize, cursor: pageParam ?? undefined, count: pageParam === null ? true : undefined }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
    retry: false,
  })
}

export const trainingOf = (run: Item): number => (isRef(run['training']) ? run['training'].id : 0)

/** Runs with what they were started with and what came of it: columns, order and conditions as one likes. */
export function RunTable({ kind, training }: Props) {
  const { t, n } = useI18n()
  const { session, project, kind: byName } = useApp()
  const navigate = useNavigate()
  const narrow = useNarrow()
  const [params, setParams] = useSearchParams()
  const [open, setOpen] = useState<Open | null>(null)
  const search = useRef<HTMLInputElement>(null)
  const [chosen, setChosen] = useKeptList(`runs.${training ? `training-${training.id}` : `project-${project?.id ?? 0}`}`)
  const conditions = params.getAll('where').flatMap((text) => conditionOf(text) ?? [])
  const list = useRuns(kind, training, params, conditions)
  const items = useMemo(() => allItems(list.data), [list.data])
  const all = useMemo(() => columnsIn(items), [items])
  const titleOf = useColumnTitle(kind, items)
  const shown = chosen ?? usualColumns(items)
  const picked = idsOf(params.get('runs'))
  const write = (edit: (next: URLSearchParams) => void) => setParams((old) => { const next = new URLSearchParams(old); edit(next); return next }, { replace: true })
  const change = (values: Record<string, string | null>) => write((next) => { for (const [name, value] of Object.entries(values)) if (value) next.set(name, value); else next.delete(name) })
  const keep = (next: Condition[]) => write((to) => { to.delete('where'); for (const one of next) to.append('where', conditionText(one)) })
  const toggle = (id: number) => change({ runs: (picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id]).slice(0, mostRuns).join(',') || null })
  const parent = byName(kind.parent ?? '')
  const keys = useMemo<Shortcut[]>(() => [{ keys: '/', label: 'keys.search', group: 'page', run: () => search.current?.focus() }], [])
  useKeys(keys)
  const first = list.data?.pages[0]
  return (
    <section className="list">
      <ListTools ref={search} kind={searched(kind)} params={params} onChange={change} narrow={narrow}>
        <Conditions kind={kind} runs={items} all={all} titleOf={titleOf} conditions={conditions} onChange={keep} />
        <ColumnPicker all={all} shown={shown} titleOf={titleOf} onChange={setChosen} chosen={chosen !== null} />
        <Button type="primary" disabled={picked.length < 2 || !project} onClick={() => project && void navigate(compareRunsUrl(project.name, picked))}>{t('runs.compareN', { n: n(picked.length) })}</Button>
      </ListTools>
      {list.error ? <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        : !first ? <Skeleton />
          : items.length === 0 ? <Empty title={t(isNarrowed(params) ? 'list.noMatch' : 'runs.none')} text={t(isNarrowed(params) ? 'list.noMatchHint' : 'runs.noneText')} />
            : (
              <>
                <div className="list-count num"><span role="status">{t('list.count', { n: n(first.total ?? items.length) })}</span>{picked.length < 2 && <span className="muted">{t('runs.tickHint')}</span>}</div>
                <div className="table-box" tabIndex={0} role="group" aria-label={t('runs.title')}>
                  <table className="table runs-table">
                    <Heads columns={shown} runs={items} sort={params.get('sort') ?? ''} titleOf={titleOf} onSort={(sort) => change({ sort })} />
                    <tbody>
                      {items.map((run) => {
                        const url = parent ? childUrl(kind, run.id, parent, trainingOf(run), project) : null
                        const name = training || !isRef(run['training']) ? nameOf(kind, run) : `${run['training'].name} ${nameOf(kind, run)}`
                        return (
                          <tr key={run.id}>
                            <td className="runs-tick"><Checkbox checked={picked.includes(run.id)} disabled={!picked.includes(run.id) && picked.length >= mostRuns} onChange={() => toggle(run.id)} aria-label={t('runs.tick', { name })} /></td>
                            <td className="first">{url ? <Link className="row-name" to={url}>{name}</Link> : name}</td>
                            {shown.map(columnOf).map((column) => <td key={column.key} className={column.source === 'field' ? undefined : 'right'}><RunCell kind={kind} run={run} column={column} /></td>)}
                            <td className="actions-cell"><RowActions kind={kind} item={run} may={(verb, item) => offers(session, kind, verb, project?.id, item)} onAct={(what, item) => setOpen({ what, item })} /></td>
                          </tr>
                        )
                      })}
                    </tbody>
                  </table>
                </div>
                <MoreRows list={list} />
              </>
            )}
      {parent && <Dialogs kind={kind} place={{ parent: { kind: parent, id: training?.id ?? (open && 'item' in open && open.item ? trainingOf(open.item) : 0) } }} open={open} onClose={() => setOpen(null)} />}
    </section>
  )
}

/** The best first, then the worst, then the newest again. */
function next(by: string, direction: string | undefined, lower: boolean): string {
  const [one, other] = lower ? [by, `-${by}`] : [`-${by}`, by]
  return direction === undefined ? one : (direction === 'ascending') === lower ? other : ''
}

function Heads({ columns, runs, sort, titleOf, onSort }: { columns: readonly string[]; runs: readonly Item[]; sort: string; titleOf: ReturnType<typeof useColumnTitle>; onSort: (sort: string) => void }) {
  const { t } = useI18n()
  const head = (key: string, title: string, by: string | null, right: boolean, lower = false) => {
    const direction = by && sort === by ? 'ascending' : by && sort === `-${by}` ? 'descending' : undefined
    return (
      <th key={key} scope="col" aria-sort={direction} className={right ? 'right' : undefined}>
        {by ? (
          <button type="button" className="sort" title={t('list.sort', { title })} onClick={() => onSort(next(by, direction, lower))}>
            {title}{direction && <Icon name={direction === 'ascending' ? 'up' : 'down'} size={11} />}
          </button>
        ) : title}
      </th>
    )
  }
  return (
    <thead>
      <tr>
        <th scope="col"><span className="visually-hidden">{t('runs.compare')}</span></th>
        {head('name', t('runs.run'), 'number', false)}
        {columns.map(columnOf).map((column) => head(column.key, titleOf(column), sortOf(column, runs), column.source !== 'field', runs.some((run) => metricsOf(run)[column.name]?.lower)))}
        <th scope="col" className="actions-head"><span className="visually-hidden">{t('list.actions')}</span></th>
      </tr>
    </thead>
  )
}
