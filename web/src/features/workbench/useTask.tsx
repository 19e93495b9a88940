import { useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button, Input, Modal, Progress } from 'antd'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useOnce } from '../../components/hooks'
import { problemText } from '../../components/problem'
import { Time } from '../../components/Time'
import { useI18n, type Key } from '../../i18n'
import type { BenchStore, Panel } from './bench'
import type { TaskPart } from './BenchPage'
import { useEvery } from './source'
import { useBenchState } from './useBench'
import { createActivity, tasks, type Assignment } from './work'

interface Options {
  id: number
  stage: 'label' | 'review'
  batch: readonly Assignment[]
  left: number
  onBatch: (change: (old: readonly Assignment[] | null) => readonly Assignment[] | null) => void
  onMore: () => Promise<void>
  bench: BenchStore
}

/** What a task adds to the workbench: handing in, skipping, asking, accepting and rejecting, and the time of work. */
export function useTask({ id, stage, batch, left, onBatch, onMore, bench }: Options): TaskPart {
  const i18n = useI18n()
  const { t } = i18n
  const { message } = App.useApp()
  const client = useQueryClient()
  const assignment = useBenchState(bench, (s) => s.assignment)
  const panel = useBenchState(bench, (s) => s.panel)
  const activity = useMemo(() => createActivity(), [])
  const open = batch.filter((a) => a.state === 'leased')
  // As the batch knows it now: what was opened may have been handed in since.
  const closed = !open.some((a) => a.id === assignment?.id)
  const rest = Math.max(0, left - batch.length)

  useEffect(() => {
    const touch = () => activity.touch()
    const names = ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const
    for (const name of names) window.addEventListener(name, touch, { passive: true })
    return () => {
      for (const name of names) window.removeEventListener(name, touch)
    }
  }, [activity])
  useEvery(60_000, () => {
    // One that fails is no harm: operations extend the lease too, and the next one comes in a minute.
    if (open.length > 0) tasks.heartbeat(id, open.map((a) => a.id), activity.take()).catch(() => undefined)
  })

  const mark = (done: Assignment, state: Assignment['state']) => onBatch((old) => old?.map((a) => (a.id === done.id ? { ...a, state } : a)) ?? null)
  const next = (done: Assignment) => {
    const at = batch.findIndex((a) => a.id === done.id)
    const following = [...batch.slice(at + 1), ...batch.slice(0, at)].find((a) => a.state === 'leased')
    if (following) bench.open(following.sample.id)
    else void onMore()
    void client.invalidateQueries({ queryKey: ['objects', 'label_task'] })
  }
  /** Everything that was done on the sample is on the server before it is judged there. */
  const finish = async (state: Assignment['state'], run: (a: Assignment) => Promise<unknown>) => {
    if (!assignment || closed) return
    bench.set({ saving: true, panel: null })
    try {
      if (!(await bench.sync.settled())) return void message.warning(t('bench.waitSaving'))
      await run(assignment)
      mark(assignment, state)
      next(assignment)
    } catch (error) {
      void message.error(problemText(error, i18n))
    } finally {
      bench.set({ saving: false })
    }
  }
  const takeBack = async (done: Assignment) => {
    message.destroy('submitted')
    try {
      await tasks.reopen(id, done.id)
      mark(done, 'leased')
      bench.open(done.sample.id)
    } catch (error) {
      void message.error(problemText(error, i18n))
    }
  }
  const submit = useOnce((nothing: boolean) => finish('submitted', async (a) => {
    await tasks.submit(id, a.id, nothing, activity.take())
    void message.open({ key: 'submitted', type: 'success', duration: 6, content: <>{t('bench.submitted')} <Button size="small" onClick={() => void takeBack(a)}>{t('bench.undoSubmit')}</Button></> })
  }))
  const skip = useOnce((reason: string) => finish('skipped', (a) => tasks.skip(id, a.id, reason)))
  /** Several made something of it, and nothing of that was taken: hardly what is meant. */
  const untouched = () => {
    const { document, layers } = bench.state
    const said = (a: { shapes?: readonly unknown[]; labels?: readonly unknown[]; text?: string }) => (a.shapes?.length ?? 0) + (a.labels?.length ?? 0) > 0 || a.text !== undefined
    return document !== null && !document.canUndo && !said(document.annotation()) && layers.list.some((l) => !l.late && said(l.annotation))
  }
  const accept = useOnce(async () => untouched() ? bench.say(t('bench.takeFirst')) : finish('accepted', (a) => tasks.decide(id, a.id, 'accept', null, [])))
  const reject = useOnce((reason: string) => {
    const shapes = rejectedShapes(bench).map((shape) => ({ id: shape, reason }))
    return finish('rejected', (a) => tasks.decide(id, a.id, 'reject', reason, shapes))
  })
  const ask = useOnce(async (text: string) => {
    if (!assignment) return
    bench.set({ panel: null })
    try {
      await tasks.ask(id, assignment.sample.id, text, bench.state.selection[0])
      await client.invalidateQueries({ queryKey: ['objects', 'label_task', 'threads', id, assignment.sample.id] })
    } catch (error) {
      void message.error(problemText(error, i18n))
    }
  })
  const saving = useBenchState(bench, (s) => s.saving)
  const done = batch.length - open.length
  return {
    stage,
    submit: (nothing) => void submit(nothing),
    decide: (yes) => (yes ? void accept() : bench.set({ panel: 'reject' })),
    head: (
      <span className="bench-progress">
        <Progress type="circle" size={20} percent={Math.round((100 * done) / Math.max(1, batch.length))} showInfo={false} aria-label={t('bench.batch', { done, n: batch.length })} />
        <span className="muted num">{t('bench.batch', { done, n: batch.length })}{rest > 0 ? ` · ${t('bench.left', { n: rest })}` : ''}</span>
        {stage === 'label' ? (
          <Button type="primary" size="small" loading={saving} disabled={closed} onClick={() => void submit(false)}>{t('bench.submit')}</Button>
        ) : (
          <>
            <Button size="small" danger disabled={closed || saving} onClick={() => bench.set({ panel: 'reject' })}>{t('bench.reject')}</Button>
            <Button type="primary" size="small" loading={saving} disabled={closed} onClick={() => void accept()}>{t('bench.accept')}</Button>
          </>
        )}
      </span>
    ),
    note: assignment && <Note assignment={assignment} />,
    side: assignment && <Threads task={id} sample={assignment.sample.id} />,
    dialogs: (
      <>
        {panel === 'skip' && <Ask heading="bench.skip" field={'bench.reason'} onClose={() => bench.set({ panel: null })} onSend={(text) => void skip(text)} />}
        {panel === 'ask' && <Ask heading="bench.ask" field={'bench.question'} onClose={() => bench.set({ panel: null })} onSend={(text) => void ask(text)} />}
        {panel === 'reject' && <Ask heading="bench.reject" field={'bench.reason'} hint={rejectedShapes(bench).length > 0 ? t('bench.reasonOfShapes', { n: rejectedShapes(bench).length }) : null} onClose={() => bench.set({ panel: null })} onSend={(text) => void reject(text)} />}
      </>
    ),
  }
}

/** What a reason is about: the selection, and what is picked of a layer. */
function rejectedShapes({ state }: BenchStore): readonly string[] {
  return [...state.selection, ...(state.layers.picked ? [state.layers.picked.shape] : [])]
}

export type AskPanel = Extract<Panel, 'skip' | 'ask' | 'reject'>

function Ask({ heading, field, hint, onClose, onSend }: { heading: Key; field: Key; hint?: string | null; onClose: () => void; onSend: (text: string) => void }) {
  const { t } = useI18n()
  const [text, setText] = useState('')
  const input = useRef<HTMLTextAreaElement | null>(null)
  const send = () => text.trim() !== '' && onSend(text.trim())
  return (
    <Modal open title={t(heading)} okText={t('bench.send')} okButtonProps={{ disabled: text.trim() === '' }} onOk={send} onCancel={onClose} afterOpenChange={() => input.current?.focus()} transitionName="" maskTransitionName="">
      <div className="field">
        <label htmlFor="bench-ask">{t(field)}</label>
        <Input.TextArea id="bench-ask" ref={(node) => { input.current = node?.resizableTextArea?.textArea ?? null }} autoFocus rows={3} maxLength={1000} value={text} onChange={(e) => setText(e.target.value)} onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) send() }} />
        {hint && <p className="muted">{hint}</p>}
      </div>
    </Modal>
  )
}

/** Why the sample came back, or whose work it is. */
function Note({ assignment }: { assignment: Assignment }) {
  const { t } = useI18n()
  const why = assignment.rejections.at(-1)
  // With several seats their layers say who made what.
  const annotator = assignment.for_review?.layers?.some((l) => !l.late) ? null : assignment.for_review?.annotator
  return (
    <>
      {annotator && <p className="bench-note muted">{t('bench.by', { name: annotator.name })}</p>}
      {why && <p className="bench-note rejected" role="note"><strong>{t('bench.rejectedBy', { name: why.by?.name ?? '' })}</strong><span className="pre">{why.reason}</span><Time at={why.at} /></p>}
    </>
  )
}

/** Questions on the sample, which reviewers and owners see and answer. */
function Threads({ task, sample }: { task: number; sample: number }) {
  const { t } = useI18n()
  const found = useQuery({ queryKey: ['objects', 'label_task', 'threads', task, sample], queryFn: ({ signal }) => tasks.threads(task, sample, signal), retry: false })
  return (
    <section className="bench-panel bench-notes" aria-label={t('bench.notes')}>
      <h2>{t('bench.notes')}</h2>
      {found.data?.length === 0 && <p className="muted">{t('bench.noNotes')}</p>}
      <ul>{found.data?.map((note) => <li key={note.id}><span className="pre">{note.text}</span> <span className="muted">{note.by?.name} <Time at={note.at} /></span></li>)}</ul>
    </section>
  )
}
