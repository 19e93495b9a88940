import { useMutation, useQueryClient } from '@tanstack/react-query'
import { App, Button, Checkbox, Input } from 'antd'
import { useState } from 'react'
import type { Item } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import { useOnce } from '../../components/hooks'
import { RefLink } from '../../components/FieldValue'
import { problemText } from '../../components/problem'
import { Empty, ErrorState } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { addNote, endNote, useNotes, type Note } from './labelling'

/** What people asked about samples of the task, and the answers: one thread to a sample. */
export function Questions({ task }: { task: Item }) {
  const { t } = useI18n()
  const [all, setAll] = useState(false)
  const notes = useNotes(task.id)
  if (notes.error && !notes.data) return <ErrorState error={notes.error} onRetry={() => void notes.refetch()} />
  if (!notes.data) return <div className="skeleton" aria-busy="true"><div /><div /></div>
  const threads = new Map<number, Note[]>()
  for (const note of notes.data) threads.set(note.sample, [...(threads.get(note.sample) ?? []), note])
  const shown = [...threads].filter(([, list]) => all || list.some((note) => !note.done))
  return (
    <section className="threads">
      {notes.data.length > 0 && <Checkbox checked={all} onChange={(e) => setAll(e.target.checked)}>{t('labelTask.allQuestions')}</Checkbox>}
      {shown.length === 0 ? <Empty title={t('labelTask.noQuestions')} text={t('labelTask.noQuestionsHint')} /> : shown.map(([sample, list]) => <Thread key={sample} task={task} sample={sample} notes={list} />)}
    </section>
  )
}

function Thread({ task, sample, notes }: { task: Item; sample: number; notes: Note[] }) {
  const i18n = useI18n()
  const { t } = i18n
  const { message } = App.useApp()
  const client = useQueryClient()
  const [text, setText] = useState('')
  const run = useMutation({
    mutationFn: (todo: () => Promise<unknown>) => todo(),
    onSuccess: () => invalidate(client, 'label_task'),
    onError: (error) => void message.error(problemText(error, i18n)),
  })
  const answer = useOnce(async () => {
    if (text.trim() === '') return
    await run.mutateAsync(() => addNote(task.id, sample, text.trim())).then(() => setText(''), () => undefined)
  })
  const open = notes.filter((note) => !note.done)
  return (
    <article className="thread panel" aria-label={t('labelTask.threadOf', { sample })}>
      <h2>{t('labelTask.threadOf', { sample })}{notes.some((note) => note.shape) && <span className="muted"> {t('labelTask.onShape')}</span>}</h2>
      <ul>
        {notes.map((note) => (
          <li key={note.id} className={note.done ? 'muted' : undefined}>
            <p><RefLink kindName="user" value={note.by} /> <span className="muted"><Time at={note.at} /></span>{note.done && <span className="tag">{t('labelTask.answered')}</span>}</p>
            <p className="pre">{note.text}</p>
          </li>
        ))}
      </ul>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault()
          void answer()
        }}
      >
        <Input aria-label={t('labelTask.answer')} placeholder={t('labelTask.answer')} value={text} maxLength={4000} onChange={(e) => setText(e.target.value)} />
        <Button htmlType="submit" type="primary" disabled={text.trim() === ''} loading={run.isPending}>{t('labelTask.send')}</Button>
        {open.length > 0 && <Button onClick={() => run.mutate(() => Promise.all(open.map((note) => endNote(task.id, note.id))))}>{t('labelTask.settle')}</Button>}
      </form>
    </article>
  )
}
