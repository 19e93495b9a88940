import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button, Input, Modal } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { projectUrl } from '../../app/links'
import { ProblemPage } from '../../app/pages'
import { request } from '../../api/client'
import { invalidate } from '../../api/objects'
import type { Page } from '../../api/kinds'
import { may } from '../../api/session'
import { CopyText } from '../../components/CopyText'
import { formatBytes } from '../../components/format'
import { useEscape, useTitle } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n, type Key } from '../../i18n'
import { TaskProgress } from '../tasks/TaskView'
import { useTask } from '../tasks/tasks'
import { dataSteps, isWorking, stepKey, trainingSteps, useDemo, type Demo } from './demo'
import './demo.css'

function useAct(action: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: object) => request<unknown>(`/demos/${action}`, { method: 'POST', body }),
    onSettled: () => invalidate(client, 'demo'),
  })
}

/** The demo project: what its two stages bring and cost, how far they are, what is there, and its removal. */
export function DemoPage() {
  const { t } = useI18n()
  const { session } = useApp()
  const found = useDemo()
  useTitle(t('demo.title'))
  if (!may(session, 'demo.load')) return <section className="message-page"><h1>{t('demo.title')}</h1><p>{t('demo.ask')}</p></section>
  if (found.error && !found.data) return <ProblemPage error={found.error} onRetry={() => void found.refetch()} />
  const demo = found.data
  if (!demo) return <div className="skeleton" aria-busy="true"><div /><div /></div>
  return (
    <article className="detail">
      <header className="detail-head"><h1>{t('demo.title')}</h1></header>
      <div className="demo">
        <p className="demo-about">{t('demo.about')}</p>
        <Data demo={demo} />
        <Training demo={demo} />
        {demo.people && demo.people.length > 0 && !isWorking(demo) && demo.state !== 'part' && <People />}
        {demo.state !== 'absent' && <Removal demo={demo} />}
      </div>
    </article>
  )
}

/** The steps of a stage: done, at work, failed, or still to come. */
function Steps({ names, demo, done, working }: { names: readonly string[]; demo: Demo; done: boolean; working: boolean }) {
  const { t } = useI18n()
  const at = names.indexOf(demo.step ?? '')
  const state = (i: number) => (done ? 'done' : at < 0 || i > at ? 'open' : i < at ? 'done' : working ? 'now' : demo.reason ? 'failed' : 'open')
  return (
    <ol className="demo-steps">
      {names.map((name, i) => {
        const key = stepKey(name)
        const now = state(i)
        return <li key={name} data-state={now}><span className="demo-mark" aria-label={t(`demo.mark.${now}`)} role="img">{now === 'done' ? <Icon name="check" /> : now === 'failed' ? '!' : i + 1}</span>{key && t(key)}</li>
      })}
    </ol>
  )
}

function Working({ demo }: { demo: Demo }) {
  const task = useTask(demo.task ?? null)
  return task.data ? <TaskProgress task={task.data} compact /> : null
}

function Failed({ demo }: { demo: Demo }) {
  const { sentence } = useI18n()
  return demo.reason ? <p className="field-error" role="alert">{sentence(demo.reason, demo.reason_zh)}</p> : null
}

const parts: { name: string; path: string; key: Key }[] = [
  { name: 'datasets', path: 'datasets', key: 'demo.link.datasets' },
  { name: 'labelling', path: 'label-tasks', key: 'demo.link.labelling' },
  { name: 'models', path: 'model-sets', key: 'demo.link.models' },
  { name: 'evaluations', path: 'evaluations', key: 'demo.link.evaluations' },
  { name: 'services', path: 'services', key: 'demo.link.services' },
]

function Data({ demo }: { demo: Demo }) {
  const { t, n } = useI18n()
  const load = useAct('load')
  const done = demo.state === 'ready' || demo.state === 'training' || demo.state === 'trained'
  const failed = demo.state === 'part' && (dataSteps as readonly string[]).includes(demo.step ?? '')
  const home = demo.project ? projectUrl(demo.project.name) : null
  return (
    <section className="demo-stage" aria-label={t('demo.data')}>
      <h2>{t('demo.data')}</h2>
      <p className="muted">{t('demo.dataCost', { bytes: formatBytes(demo.bytes ?? 0), minutes: n(Math.ceil(demo.minutes ?? 1)) })}</p>
      <Steps names={dataSteps} demo={demo} done={done} working={demo.state === 'loading'} />
      {demo.state === 'loading' && <Working demo={demo} />}
      {failed && <Failed demo={demo} />}
      {(demo.state === 'absent' || demo.state === 'part') && <Button type="primary" loading={load.isPending} onClick={() => load.mutate({})}>{t(demo.state === 'part' ? 'demo.again' : 'demo.begin')}</Button>}
      {load.error && <ProblemNote error={load.error} />}
      {done && home && (
        <div className="row wrap">
          <Link className="demo-open" to={home}>{t('demo.open')}</Link>
          {parts.map((part) => <Link key={part.name} to={`${home}/${part.path}`}>{t(part.key)}</Link>)}
        </div>
      )}
    </section>
  )
}

interface Runtime { state: string; bytes?: number | null; minutes?: number | null; id: number }

function Training({ demo }: { demo: Demo }) {
  const { t, n } = useI18n()
  const train = useAct('train')
  const runtime = useQuery({
    queryKey: ['objects', 'runtime', 'some', 'pytorch'],
    queryFn: async ({ signal }) => ((await request<Page>('/runtimes', { query: { filter: 'name = "pytorch"' }, signal })).items[0] ?? null) as unknown as Runtime | null,
  })
  const done = demo.state === 'trained'
  const there = runtime.data?.state === 'ready'
  const failed = (trainingSteps as readonly string[]).includes(demo.step ?? '') && demo.state === 'ready'
  return (
    <section className="demo-stage" aria-label={t('demo.training')}>
      <h2>{t('demo.training')}</h2>
      <p className="muted">{t('demo.trainingCost', { minutes: n(Math.ceil(demo.training_minutes ?? 1)) })}</p>
      <Steps names={trainingSteps} demo={demo} done={done} working={demo.state === 'training'} />
      {demo.state === 'training' && <Working demo={demo} />}
      {failed && <Failed demo={demo} />}
      {runtime.data && !there && !done && (
        <p>
          {t('demo.noRuntime', { bytes: formatBytes(runtime.data.bytes ?? 0), minutes: n(Math.ceil(runtime.data.minutes ?? 1)) })}{' '}
          <Link to={`/admin/runtimes/${runtime.data.id}`}>{t('demo.toRuntime')}</Link>
        </p>
      )}
      {demo.state === 'ready' && there && <Button type="primary" loading={train.isPending} onClick={() => train.mutate({})}>{t('demo.train')}</Button>}
      {train.error && <ProblemNote error={train.error} />}
    </section>
  )
}

interface Person { name: string; role: 'annotator' | 'reviewer'; password: string }

/** Passwords are stored nowhere: asking sets new ones, and this page forgets them when it is left. */
function People() {
  const { t } = useI18n()
  const [shown, setShown] = useState<Person[]>([])
  const act = useMutation({
    mutationFn: () => request<{ items: Person[] }>('/demos/passwords', { method: 'POST', body: {} }),
    onSuccess: (answer) => setShown(answer.items),
  })
  return (
    <section className="demo-stage" aria-label={t('demo.people')}>
      <h2>{t('demo.people')}</h2>
      <p className="muted">{t('demo.peopleText')}</p>
      {shown.map((one) => (
        <div key={one.name} className="demo-person">
          <span><b>{one.name}</b> <span className="muted">{t(`demo.role.${one.role}`)}</span></span>
          <CopyText text={one.password} label={t('demo.passwordOf', { name: one.name })} />
        </div>
      ))}
      <div><Button loading={act.isPending} onClick={() => act.mutate()}>{t(shown.length ? 'demo.passwordsAgain' : 'demo.passwords')}</Button></div>
      {act.error && <ProblemNote error={act.error} />}
    </section>
  )
}

function Removal({ demo }: { demo: Demo }) {
  const { t } = useI18n()
  const [asks, setAsks] = useState(false)
  if (demo.state === 'removing') return <section className="demo-stage" aria-label={t('demo.removal')}><h2>{t('demo.removal')}</h2><Working demo={demo} /></section>
  return (
    <section className="demo-stage" aria-label={t('demo.removal')}>
      <h2>{t('demo.removal')}</h2>
      <p className="muted">{t('demo.removalText')}</p>
      {demo.step === 'remove' && <Failed demo={demo} />}
      <div><Button danger disabled={isWorking(demo)} onClick={() => setAsks(true)}>{t('demo.remove')}</Button></div>
      {asks && <RemoveDialog demo={demo} onClose={() => setAsks(false)} />}
    </section>
  )
}

function RemoveDialog({ demo, onClose }: { demo: Demo; onClose: () => void }) {
  const { t } = useI18n()
  const [typed, setTyped] = useState('')
  const act = useAct('remove')
  const name = demo.project?.name ?? 'demo'
  useEscape(onClose)
  const run = () => act.mutate({ name: typed }, { onSuccess: onClose })
  return (
    <Modal
      open title={t('demo.remove')} width={460} onCancel={onClose} transitionName="" maskTransitionName=""
      footer={<><Button onClick={onClose}>{t('form.cancel')}</Button><Button danger type="primary" loading={act.isPending} disabled={typed !== name} onClick={run}>{t('demo.remove')}</Button></>}
    >
      <p>{t('demo.goes', { name })}</p>
      <ul className="references">
        <li>{t('demo.goesData')}</li>
        <li>{t('demo.goesModels')}</li>
        <li>{t('demo.goesPeople', { people: (demo.people ?? []).map((one) => one.name).join(', ') })}</li>
      </ul>
      <div className="field">
        <label htmlFor="demo-name">{t('delete.typeName', { name })}</label>
        <Input id="demo-name" autoFocus autoComplete="off" value={typed} onChange={(e) => setTyped(e.target.value)} onPressEnter={() => typed === name && run()} />
      </div>
      {act.error && <ProblemNote error={act.error} />}
    </Modal>
  )
}
