import { useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button, Input } from 'antd'
import { memo, useEffect, useRef, useState } from 'react'
import { useOnce } from '../../components/hooks'
import { problemText } from '../../components/problem'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import { useBenchState } from './useBench'
import { tasks, type Thread } from './work'

/** So often it is looked for answers while a question is open. */
const every = 30_000
const none: readonly Thread[] = []

/** Questions on the sample and their answers. Those on a shape or at a place have a number, which stands on the picture, too. */
export const Threads = memo(function Threads({ bench, task, sample }: { bench: BenchStore; task: number; sample: number }) {
  const i18n = useI18n()
  const { t } = i18n
  const { message } = App.useApp()
  const client = useQueryClient()
  const queryKey = ['objects', 'label_task', 'threads', task, sample]
  const { data = none, error } = useQuery({ queryKey, queryFn: ({ signal }) => tasks.threads(task, sample, signal), retry: false, refetchInterval: (q) => (q.state.data?.some((note) => !note.done) ? every : false) })
  useEffect(() => bench.set({ notes: data }), [bench, data, sample])
  const [text, setText] = useState('')
  const run = useOnce(async (todo: () => Promise<unknown>) => {
    try {
      await todo()
      setText('')
      await client.invalidateQueries({ queryKey })
    } catch (failed) {
      void message.error(problemText(failed, i18n))
    }
  })
  const open = data.filter((note) => !note.done)
  const answer = () => text.trim() !== '' && void run(() => tasks.ask(task, sample, { text: text.trim() }))
  return (
    <section className="bench-panel bench-notes" aria-label={t('bench.notes')}>
      <h2>{t('bench.notes')}</h2>
      {error && <p className="muted">{problemText(error, i18n)}</p>}
      {data.length === 0 && !error && <p className="muted">{t('bench.noNotes')}</p>}
      <ol>{data.map((note, i) => <Note key={note.id} bench={bench} note={note} number={i + 1} />)}</ol>
      {open.length > 0 && (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault()
            answer()
          }}
        >
          <Input size="small" aria-label={t('labelTask.answer')} placeholder={t('labelTask.answer')} value={text} maxLength={4000} onChange={(e) => setText(e.target.value)} />
          <Button size="small" htmlType="submit" disabled={text.trim() === ''}>{t('bench.send')}</Button>
          <Button size="small" title={t('bench.settleHint')} onClick={() => void run(() => Promise.all(open.map((note) => tasks.settle(task, note.id))))}>{t('labelTask.settle')}</Button>
        </form>
      )}
    </section>
  )
})

function Note({ bench, note, number }: { bench: BenchStore; note: Thread; number: number }) {
  const { t, n } = useI18n()
  const current = useBenchState(bench, (s) => s.note === note.id)
  const line = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (current) line.current?.scrollIntoView({ block: 'nearest' })
  }, [current])
  const show = () => {
    bench.set({ note: note.id, ...(note.shape && bench.state.document?.shape(note.shape) && { selection: [note.shape] }) })
    bench.surface?.command(note.shape ? `show:${note.shape}` : `at:${note.x ?? 0},${note.y ?? 0}`)
  }
  return (
    <li ref={line} className={[note.done && 'muted', current && 'selected'].filter(Boolean).join(' ')}>
      {placed(note) && <button type="button" className="note-number num" aria-label={t('bench.showNote', { n: number })} title={t('bench.showNote', { n: number })} onClick={show}>{n(number)}</button>}
      <span className="pre">{note.text}</span> <span className="muted">{note.by?.name} <Time at={note.at} /></span> {note.done && <span className="tag">{t('labelTask.answered')}</span>}
    </li>
  )
}

/** Whether it stands somewhere on the picture. */
export function placed({ shape, x, y }: Thread): boolean {
  return Boolean(shape) || (typeof x === 'number' && typeof y === 'number')
}
