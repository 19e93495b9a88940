import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button } from 'antd'
import { Suspense, useCallback, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { childUrl, listUrl } from '../../app/links'
import { lazyPart } from '../../app/part'
import { request } from '../../api/client'
import type { Item, Kind } from '../../api/kinds'
import { invalidate, itemPath, lasting, listPage, useCount } from '../../api/objects'
import { may, offers } from '../../api/session'
import { AsidePart } from '../../components/Aside'
import { RefLink } from '../../components/FieldValue'
import { useOnce, useShown } from '../../components/hooks'
import { isRef, nameOf } from '../../components/names'
import { problemText } from '../../components/problem'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { ComputePage } from '../jobs/ComputePage'
import { isOver } from '../jobs/jobs'
import { ReasonNote } from '../jobs/JobPage'
import { StateTag } from '../jobs/State'
import { AsideFacts } from '../objects/AsideFacts'
import { Dialogs, type Open } from '../objects/Dialogs'
import { MoreMenu, useObjectKeys } from '../objects/Head'
import type { PageProps } from '../objects/special'
import { RunTime } from '../runs/cells'
import { RunTable } from '../runs/RunTable'
import { causeOf, Failure } from './Failure'
import { ResultButtons } from './ResultButtons'

const Metrics = lazyPart(() => import('./Metrics'), 'Metrics')

const newest = 5

function useNewest(instances: Kind | undefined, kind: Kind, id: number) {
  return useQuery({
    queryKey: ['objects', instances?.name ?? '', 'newest', id],
    queryFn: async ({ signal }) => (instances ? (await listPage(instances, { parent: { kind, id } }, { sort: '-number', limit: newest }, signal)).items : []),
    enabled: instances !== undefined,
  })
}

/** The curves of the newest run, and why it failed when it did. */
function LastRun({ run, url, path }: { run: Item; url: string; path: string }) {
  const { t } = useI18n()
  const started = typeof run['started_at'] === 'string'
  return (
    <>
      <p className="row wrap last-run">
        <StateTag state={String(run['state'])} />
        <Link to={url}>{String(run['name'])}</Link>
        {started && <RunTime run={run} />}
        {isRef(run['model_version']) && <span>{t('training.made')} <RefLink kindName="model_version" value={run['model_version']} /></span>}
      </p>
      {causeOf(run) ? <Failure item={run} log={started} page={url} /> : <ReasonNote item={run} failed={run['state'] === 'failed'} />}
      <Suspense fallback={<Skeleton />}><Metrics path={path} item={run} /></Suspense>
    </>
  )
}

function Runs({ runs, count, urlOf }: { runs: readonly Item[]; count: number; urlOf: (run: Item) => string }) {
  const { t, n } = useI18n()
  return (
    <>
      <ul className="aside-list">
        {runs.map((run) => (
          <li key={run.id}>
            <Link to={urlOf(run)}>{String(run['name'])}</Link>
            <StateTag state={String(run['state'])} />
            <span className="muted clip-line"><RunTime run={run} /></span>
            <span className="muted"><Time at={run.created_at} /></span>
          </li>
        ))}
      </ul>
      {count > runs.length && <p className="more-link"><Link to="?tab=instances">{t('training.allRuns', { n: n(count) })}</Link></p>}
    </>
  )
}

export function TrainingPage({ kind, place, item }: PageProps) {
  const i18n = useI18n()
  const { t, w } = i18n
  const { session, project, kind: byName } = useApp()
  const { message } = App.useApp()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open | null>(null)
  const instances = byName('training_instance')
  const start = kind.actions.find((a) => a.name === 'start')
  const parent = { kind, id: item.id }
  const found = useNewest(instances, kind, item.id)
  const count = useCount(instances ?? kind, instances ? { parent } : place, instances !== undefined)
  const run = useMutation({
    mutationFn: () => request<Item>(`${itemPath(kind, place, item.id)}/start`, { method: 'POST', body: {} }),
    onSuccess: () => invalidate(client, 'training_instance'),
    onError: (error) => void message.error(problemText(error, i18n)),
  })
  const shown = useShown()
  const begin = useOnce(async () => {
    const made = await run.mutateAsync().catch(() => null)
    const url = made && instances && childUrl(instances, made.id, kind, item.id, project)
    if (url && shown()) void navigate(url)
  })
  const rest = kind.actions.filter((a) => a !== start && a.on === 'item' && a.method === 'POST' && may(session, a.permission, project?.id))
  const mayUpdate = offers(session, kind, 'update', project?.id)
  const mayDelete = offers(session, kind, 'delete', project?.id)
  const menu = [
    ...(mayUpdate ? [{ key: 'edit', label: t('object.edit') }] : []),
    ...rest.map((a) => ({ key: a.name, label: w(a.title), danger: a.danger })),
    ...(mayDelete ? [{ key: 'delete', label: t('object.delete'), danger: true }] : []),
  ]
  const [edit, remove] = [useCallback(() => setOpen({ what: 'edit', item }), [item]), useCallback(() => setOpen({ what: 'delete', item }), [item])]
  useObjectKeys(mayUpdate ? edit : null, mayDelete ? remove : null)
  const runs = found.data
  const last = runs?.[0]
  const urlOf = (one: Item) => (instances && childUrl(instances, one.id, kind, item.id, project)) ?? '?tab=instances'
  const pathOf = (one: Item) => (instances ? itemPath(instances, { parent }, one.id) : '')
  const made = last !== undefined && isRef(last['model_version'])
  const goes = last !== undefined && !isOver(last['state'])
  const mayStart = start !== undefined && may(session, start.permission, project?.id)
  const begins = (primary: boolean) => start && mayStart && <Button type={primary ? 'primary' : 'default'} loading={run.isPending} onClick={() => void begin()}>{w(start.title)}</Button>
  const error = lasting(found)
  const curves = () => (error ? <ErrorState error={error} onRetry={() => void found.refetch()} />
    : !runs ? <Skeleton />
      : last ? <LastRun key={last.id} run={last} url={urlOf(last)} path={pathOf(last)} />
        : <Empty title={t('training.noRuns')} text={t('training.firstRun')} />)
  return (
    <ComputePage
      kind={kind} item={item} head={null}
      note={typeof item['description'] === 'string' && item['description'] !== '' && <p className="lead pre">{item['description']}</p>}
      buttons={
        <>
          {last && goes && <Link to={`${urlOf(last)}?tab=log`}>{t('training.follow', { name: nameOf(instances ?? kind, last) })}</Link>}
          {begins(!made)}
          {last && made && <ResultButtons path={pathOf(last)} item={last} />}
          <MoreMenu entries={menu} onPick={(key) => setOpen({ what: rest.find((a) => a.name === key) ?? (key as 'edit' | 'delete'), item })} />
        </>
      }
      tabs={[
        { name: 'metrics', title: t('metrics.title'), content: curves },
        ...(instances && runs && runs.length > 0 ? [{ name: 'instances', title: w(instances.titles), content: () => <RunTable key={item.id} kind={instances} training={item} /> }] : []),
      ]}
      aside={
        <>
          {runs && runs.length > 0 && instances && <AsidePart title={w(instances.titles)}><Runs runs={runs} count={count.data ?? 0} urlOf={urlOf} /></AsidePart>}
          <AsidePart title={t('training.definition')}><AsideFacts item={item} of={[{ kind, item, without: ['name', 'description', 'last_run'] }]} /></AsidePart>
        </>
      }
    >
      <Dialogs kind={kind} place={place} open={open} onClose={() => setOpen(null)} onDeleted={() => void navigate(listUrl(kind, project) ?? '/', { replace: true })} />
    </ComputePage>
  )
}
