import { useMutation, useQueryClient } from '@tanstack/react-query'
import { App, Button } from 'antd'
import { Suspense, useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { useApp } from '../../app/context'
import { childUrl, itemUrl } from '../../app/links'
import { NotFoundPage, ProblemPage } from '../../app/pages'
import { useRecent } from '../../app/recent'
import { request } from '../../api/client'
import type { Item, Kind } from '../../api/kinds'
import { invalidate, itemPath, lasting, useItem } from '../../api/objects'
import { may, offers } from '../../api/session'
import { RefLink } from '../../components/FieldValue'
import { useOnce, useShown, useTitle } from '../../components/hooks'
import { isRef, nameOf } from '../../components/names'
import { problemText } from '../../components/problem'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { ComputePage } from '../jobs/ComputePage'
import { isOver } from '../jobs/jobs'
import { JobTimes, ReasonNote } from '../jobs/JobPage'
import { StateTag } from '../jobs/State'
import { useJobTabs } from '../jobs/tabs'
import { Dialogs, type Open } from '../objects/Dialogs'
import { MoreMenu } from '../objects/Head'
import { LineageGraph } from '../lineage/LineageGraph'
import { fits } from '../objects/fits'
import { causeOf, Failure } from './Failure'
import { startedWith, useLineage } from './instances'
import { ResultButtons } from './ResultButtons'
import { LineageFacts } from './Lineage'
import { TensorBoard } from './TensorBoard'
import { lazyPart } from '../../app/part'

const Metrics = lazyPart(() => import('./Metrics'), 'Metrics')
const Pictures = lazyPart(() => import('./Pictures'), 'Pictures')
const waiting = <Skeleton n={1} />

export function InstancePage() {
  const { plural, id, child, childId } = useParams()
  const { kinds } = useApp()
  const parentKind = kinds.find((k) => k.plural === plural && k.name === 'training')
  const kind = kinds.find((k) => k.plural === child && k.parent === parentKind?.name)
  const whole = (text: string | undefined) => (/^[1-9]\d{0,15}$/.test(text ?? '') ? Number(text) : NaN)
  if (!parentKind || !kind || Number.isNaN(whole(id)) || Number.isNaN(whole(childId))) return <NotFoundPage />
  return <Found key={childId} parentKind={parentKind} kind={kind} parentId={whole(id)} id={whole(childId)} />
}

function Found({ parentKind, kind, parentId, id }: { parentKind: Kind; kind: Kind; parentId: number; id: number }) {
  const { project } = useApp()
  const parent = useItem(parentKind, { project: project?.id }, parentId)
  const found = useItem(kind, { parent: { kind: parentKind, id: parentId } }, id)
  useTitle(found.data ? nameOf(kind, found.data) : null, parent.data ? nameOf(parentKind, parent.data) : null, project?.name)
  const error = lasting(parent) ?? lasting(found)
  useRecent(kind.name, parent.data && found.data ? `${nameOf(parentKind, parent.data)} ${nameOf(kind, found.data)}` : null, error)
  if (error) return <ProblemPage error={error} onRetry={() => void (parent.error ? parent.refetch() : found.refetch())} />
  if (!parent.data || !found.data) return <Skeleton />
  return <Loaded parentKind={parentKind} kind={kind} parent={parent.data} item={found.data} />
}

function LineageTab({ path, item }: { path: string; item: Item }) {
  const found = useLineage(path, item.id)
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  return found.data ? <><LineageGraph kind="training_instance" id={item.id} /><LineageFacts lineage={found.data} /></> : <Skeleton n={1} />
}

function Loaded({ parentKind, kind, parent, item }: { parentKind: Kind; kind: Kind; parent: Item; item: Item }) {
  const i18n = useI18n()
  const { t, w } = i18n
  const { session, project, kind: byName } = useApp()
  const { message } = App.useApp()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open | null>(null)
  const [again, setAgain] = useState(false)
  const place = { parent: { kind: parentKind, id: parent.id } }
  const path = itemPath(kind, place, item.id)
  const jobRef = isRef(item['job']) ? item['job'] : null
  const job = useItem(byName('job'), { project: project?.id }, jobRef?.id ?? NaN, jobRef !== null)
  const jobTabs = useJobTabs(job.data)
  const over = isOver(item['state'])
  const offered = (name: string) => kind.actions.find((a) => a.name === name && fits(kind, a, item) && may(session, a.permission, project?.id))
  const stop = offered('stop')
  const resume = offered('resume')
  const board = offered('tensorboard')
  const menu = [
    ...(offers(session, parentKind, 'create', project?.id) ? [{ key: 'again', label: t('training.again') }] : []),
    ...(offers(session, kind, 'delete', project?.id) ? [{ key: 'delete', label: t('object.delete'), danger: true, disabled: !over }] : []),
  ]
  const parentUrl = itemUrl(parentKind, parent.id, project) ?? '/'
  const resuming = useMutation({
    mutationFn: () => request<Item>(`${path}/resume`, { method: 'POST', body: {} }),
    onSuccess: () => invalidate(client, kind.name),
    onError: (error) => void message.error(problemText(error, i18n)),
  })
  const shown = useShown()
  const resumeOnce = useOnce(async () => {
    const made = await resuming.mutateAsync().catch(() => null)
    const url = made && childUrl(kind, made.id, parentKind, parent.id, project)
    if (url && shown()) void navigate(url)
  })
  return (
    <ComputePage
      kind={kind} item={item} title={`${nameOf(parentKind, parent)} ${nameOf(kind, item)}`}
      list={{ url: parentUrl.replace(/\/\d+$/, ''), title: w(parentKind.titles) }} crumbs={[{ url: parentUrl, title: nameOf(parentKind, parent) }]}
      head={
        <>
          <StateTag state={String(item['state'])} />
          <JobTimes job={job.data ?? item} />
          {isRef(item['model_version']) && <span>{t('training.made')} <RefLink kindName="model_version" value={item['model_version']} /></span>}
        </>
      }
      note={causeOf(item)
        ? <Failure item={item} log={Number(job.data?.['attempt']) > 0} />
        : <ReasonNote item={item} failed={item['state'] === 'failed'} log={Number(job.data?.['attempt']) > 0} />}
      buttons={
        <>
          <ResultButtons path={path} item={item} />
          {board && <TensorBoard path={path} />}
          {resume && <Button loading={resuming.isPending} onClick={() => void resumeOnce()}>{w(resume.title)}</Button>}
          {stop && <Button danger onClick={() => setOpen({ what: stop, item })}>{w(stop.title)}</Button>}
          <MoreMenu entries={menu} onPick={(key) => (key === 'delete' ? setOpen({ what: 'delete', item }) : setAgain(true))} />
        </>
      }
      tabs={[
        { name: 'metrics', title: t('metrics.title'), content: () => <Suspense fallback={waiting}><Metrics path={path} item={item} /></Suspense> },
        { name: 'pictures', title: t('runs.pictures'), content: () => <Suspense fallback={waiting}><Pictures path={path} item={item} /></Suspense> },
        { name: 'lineage', title: t('lineage.title'), content: () => <LineageTab path={path} item={item} /> },
        ...jobTabs,
      ]}
    >
      {again && <Dialogs kind={parentKind} place={{ project: project?.id }} open={{ what: 'create', preset: startedWith(parentKind, item) }} onClose={() => setAgain(false)} onSaved={(made) => void navigate(itemUrl(parentKind, made.id, project) ?? parentUrl)} />}
      <Dialogs kind={kind} place={place} open={open} onClose={() => setOpen(null)} onDeleted={() => void navigate(parentUrl, { replace: true })} />
    </ComputePage>
  )
}
