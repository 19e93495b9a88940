import { useQueryClient } from '@tanstack/react-query'
import { App, Button, Input, Modal, Progress } from 'antd'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useOnce } from '../../components/hooks'
import { problemText } from '../../components/problem'
import { Time } from '../../components/Time'
import { useI18n, type Key } from '../../i18n'
import type { BenchStore, Panel } from './bench'
import type { TaskPart } from './BenchPage'
import { runMany, toDecide, toSubmit, toSubmitBare } from './many'
import { useEvery } from './source'
import { Threads } from './Threads'
import { useBenchState } from './useBench'
import { createActivity, lastRejection, tasks, type Assignment } from './work'

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
  const askAt = useBenchState(bench, (s) => s.askAt)
  const activity = useMemo(() => createActivity(), [])
  const open = batch.filter((a) => a.state === 'leased')
  // As the batch knows it now: what was opened may have been handed in since.
  const closed = !open.some((a) => a.id === assignment?.id)
  const grid = useBenchState(bench, (s) => s.grid)
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

  useEffect(() => bench.set({ closed }), [bench, closed])

  /** As the server has them now: with the sample's state, and the revision that this made. */
  const mark = (done: readonly Assignment[]) => onBatch((old) => old?.map((a) => {
    const now = done.find((d) => d.id === a.id)
    return now ? { ...a, state: now.state, sample: now.sample } : a
  }) ?? null)
  /** On to what is left of the batch behind the one that was done; `here`: on the sheet one stays where one is. */
  const next = (done: readonly Assignment[], here = false) => {
    const at = batch.findIndex((a) => a.id === done[0]?.id)
    const following = [...batch.slice(at + 1), ...batch.slice(0, at)].find((a) => a.state === 'leased' && !done.some((d) => d.id === a.id))
    if (!following) void onMore()
    else if (here) bench.surface?.command('lead-on')
    else bench.open(following.sample.id)
    void client.invalidateQueries({ queryKey: ['objects', 'label_task'] })
  }
  /** Everything that was done on the sample is on the server before it is judged there. */
  const finish = async (run: (a: Assignment) => Promise<Assignment>) => {
    if (!assignment || closed) return
    bench.set({ saving: true, panel: null })
    try {
      if (!(await bench.sync.settled())) return void message.warning(t('bench.waitSaving'))
      const done = [await run(assignment)]
      mark(done)
      next(done)
    } catch (error) {
      void message.error(problemText(error, i18n))
    } finally {
      bench.set({ saving: false })
    }
  }
  /** The same for several from the sheet. What is refused stays, and it is said why. */
  const finishMany = async (list: readonly Assignment[], run: (a: Assignment) => Promise<Assignment>): Promise<readonly Assignment[]> => {
    bench.set({ saving: true, panel: null })
    try {
      if (!(await bench.sync.settled())) {
        void message.warning(t('bench.waitSaving'))
        return []
      }
      const { done, failed, error } = await runMany(list, run)
      if (failed > 0) void message.error(`${failed > 1 ? `${t('bench.notDone', { n: failed })} ` : ''}${problemText(error, i18n)}`)
      mark(done)
      if (done.length > 0) next(done, true)
      return done
    } finally {
      bench.set({ saving: false })
    }
  }
  const asked = () => ({ batch, picked: bench.state.picked, annotationOf: (a: Assignment) => bench.annotationOf(a.sample), touched: bench.touched })
  const takeBack = useOnce(async (list: readonly Assignment[]) => {
    message.destroy('submitted')
    const { done, error } = await runMany(list, (a) => tasks.reopen(id, a.id))
    if (error !== null) void message.error(problemText(error, i18n))
    const [first] = done
    if (!first) return
    mark(done)
    if (!bench.state.grid) bench.open(first.sample.id)
    void client.invalidateQueries({ queryKey: ['objects', 'label_task'] })
  })
  const saySubmitted = (done: readonly Assignment[], bare = 0) => {
    const text = `${done.length > 1 ? t('bench.submittedMany', { n: done.length }) : t('bench.submitted')}${bare > 0 ? ` · ${t('bench.leftBare', { n: bare })}` : ''}`
    void message.open({ key: 'submitted', type: 'success', duration: 6, content: <>{text} <Button size="small" onClick={() => void takeBack(done)}>{t('bench.undoSubmit')}</Button></> })
  }
  const submitMany = async (nothing: boolean) => {
    const { ready, bare } = nothing ? { ready: toSubmitBare(asked()), bare: 0 } : toSubmit(asked())
    if (ready.length === 0) return bench.say(t(nothing ? 'bench.noneBare' : bare > 0 ? 'bench.allBare' : 'bench.noneLabelled'))
    const done = await finishMany(ready, (a) => tasks.submit(id, a.id, nothing, activity.take()))
    if (done.length > 0) saySubmitted(done, bare)
  }
  const submit = useOnce((nothing: boolean) => (bench.state.grid ? submitMany(nothing) : finish(async (a) => {
    const done = await tasks.submit(id, a.id, nothing, activity.take())
    saySubmitted([done])
    return done
  })))
  /** Takes back what is open, or what of the selection on the sheet was submitted. */
  const takeBackHere = () => {
    const here = bench.state.grid ? bench.state.picked : [assignment?.sample.id]
    const list = batch.filter((a) => a.state === 'submitted' && here.includes(a.sample.id))
    if (list.length === 0) bench.say(t('bench.nothingSubmitted'))
    else void takeBack(list)
  }
  const skip = useOnce((reason: string) => finish((a) => tasks.skip(id, a.id, reason)))
  /** Several made something of it, and nothing of that was taken: hardly what is meant. */
  const untouched = () => {
    const { document, layers } = bench.state
    const said = (a: { shapes?: readonly unknown[]; labels?: readonly unknown[]; text?: string }) => (a.shapes?.length ?? 0) + (a.labels?.length ?? 0) > 0 || a.text !== undefined
    return document !== null && !document.canUndo && !said(document.annotation()) && layers.list.some((l) => !l.late && said(l.annotation))
  }
  const decideMany = async (state: 'accepted' | 'rejected', run: (a: Assignment) => Promise<Assignment>) => {
    const { ready, compared } = toDecide(asked())
    if (ready.length > 0) {
      const done = await finishMany(ready, run)
      if (done.length > 0) bench.say(t(state === 'accepted' ? 'bench.acceptedMany' : 'bench.rejectedMany', { n: done.length }))
    } else bench.say(t(compared > 0 ? 'bench.compareAlone' : 'bench.noneSelected'))
  }
  const accepting = (a: Assignment) => tasks.decide(id, a.id, 'accept', null, [])
  const accept = useOnce(async () => (bench.state.grid ? decideMany('accepted', accepting) : untouched() ? bench.say(t('bench.takeFirst')) : finish(accepting)))
  const reject = useOnce((reason: string) => {
    if (bench.state.grid) return decideMany('rejected', (a) => tasks.decide(id, a.id, 'reject', reason, []))
    const shapes = rejectedShapes(bench).map((shape) => ({ id: shape, reason }))
    return finish((a) => tasks.decide(id, a.id, 'reject', reason, shapes))
  })
  const ask = useOnce(async (text: string) => {
    if (!assignment) return
    const at = bench.state.askAt
    bench.set({ panel: null, askAt: null })
    try {
      const [shape] = bench.state.selection
      await tasks.ask(id, assignment.sample.id, { text, ...(at ?? (shape !== undefined && { shape })) })
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
    takeBack: takeBackHere,
    decide: (yes) => (yes ? void accept() : bench.set({ panel: 'reject' })),
    head: (
      <span className="bench-progress">
        <Progress type="circle" size={20} percent={Math.round((100 * done) / Math.max(1, batch.length))} showInfo={false} aria-label={t('bench.batch', { done, n: batch.length })} />
        <span className="muted num">{t('bench.batch', { done, n: batch.length })}{rest > 0 ? ` · ${t('bench.left', { n: rest })}` : ''}</span>
        {stage === 'label' ? (
          <Button type="primary" size="small" loading={saving} disabled={closed && !grid} onClick={() => void submit(false)}>{t('bench.submit')}</Button>
        ) : (
          <>
            <Button size="small" danger disabled={(closed && !grid) || saving} onClick={() => bench.set({ panel: 'reject' })}>{t('bench.reject')}</Button>
            <Button type="primary" size="small" loading={saving} disabled={closed && !grid} onClick={() => void accept()}>{t('bench.accept')}</Button>
          </>
        )}
      </span>
    ),
    note: assignment && !grid && <><Note assignment={assignment} />{closed && <HandedIn state={batch.find((a) => a.id === assignment.id)?.state} onTakeBack={takeBackHere} />}</>,
    side: assignment && !grid && <Threads bench={bench} task={id} sample={assignment.sample.id} />,
    dialogs: (
      <>
        {panel === 'skip' && <Ask heading="bench.skip" field={'bench.reason'} onClose={() => bench.set({ panel: null })} onSend={(text) => void skip(text)} />}
        {panel === 'ask' && <Ask heading="bench.ask" field={'bench.question'} hint={askAt ? t('bench.asksHere') : bench.state.selection.length > 0 ? t('bench.asksShape') : null} onClose={() => bench.set({ panel: null, askAt: null })} onSend={(text) => void ask(text)} />}
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

/** What was handed in stays as it is, until it is taken back. */
function HandedIn({ state, onTakeBack }: { state: Assignment['state'] | undefined; onTakeBack: () => void }) {
  const { t } = useI18n()
  return (
    <p className="bench-note bench-closed" role="status">
      <span>{t(state === 'submitted' ? 'bench.closedSubmitted' : state === 'skipped' ? 'bench.closedSkipped' : 'bench.closedDecided')}</span>
      {state === 'submitted' && <Button size="small" onClick={onTakeBack}>{t('bench.undoSubmit')}</Button>}
    </p>
  )
}

/** Why the sample came back, or whose work it is. */
function Note({ assignment }: { assignment: Assignment }) {
  const { t } = useI18n()
  const why = lastRejection(assignment)
  // With several seats their layers say who made what.
  const annotator = assignment.for_review?.layers?.some((l) => !l.late) ? null : assignment.for_review?.annotator
  return (
    <>
      {annotator && <p className="bench-note muted">{t('bench.by', { name: annotator.name ?? '' })}</p>}
      {why && <p className="bench-note rejected" role="note"><strong>{t('bench.rejectedBy', { name: why.by.name ?? '' })}</strong><span className="pre">{why.reason}</span><Time at={why.at} /></p>}
    </>
  )
}
