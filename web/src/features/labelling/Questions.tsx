import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button, Checkbox, Input } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { versionUrl } from '../../app/links'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import { offers } from '../../api/session'
import { useOnce } from '../../components/hooks'
import { RefLink } from '../../components/FieldValue'
import { problemText } from '../../components/problem'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { thumbnailUrl, type Sample } from '../datasets/samples'
import { Shapes } from '../datasets/Shapes'
import { addNote, endNote, useNotes, versionRef, type Note } from './labelling'

/** What people asked about samples of the task, and the answers: one thread to a sample. */
export function Questions({ task }: { task: Item }) {
  const { t } = useI18n()
  const [all, setAll] = useState(false)
  const notes = useNotes(task.id)
  if (notes.error && !notes.data) return <ErrorState error={notes.error} onRetry={() => void notes.refetch()} />
  if (!notes.data) return <Skeleton n={2} />
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
  const { t, n } = i18n
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
  const { kind, project, session } = useApp()
  const sets = kind('dataset')
  const version = sets && offers(session, sets, 'read', project?.id) ? versionRef(task) : null
  const number = /^v(\d+)$/.exec(version?.name ?? '')?.[1]
  const url = version?.of && sets && number ? `${versionUrl(sets, version.of.id, Number(number), project)}/label?sample=${sample}` : null
  return (
    <article className="thread panel" aria-label={t('labelTask.threadOf', { sample })}>
      <h2>{t('labelTask.threadOf', { sample })}{notes.some((note) => note.shape) && <span className="muted"> {t('labelTask.onShape')}</span>} {url && <Link className="thread-link" to={url}>{t('labelTask.openSample')}</Link>}</h2>
      {version?.of && <Asked path={`/datasets/${version.of.id}/versions/${version.id}`} sample={sample} notes={notes} />}
      <ul>
        {notes.map((note, i) => (
          <li key={note.id} className={note.done ? 'muted' : undefined}>
            <p>{note.x !== null && !note.done && <span className="tag num">{n(i + 1)}</span>} <RefLink kindName="user" value={note.by} /> <span className="muted"><Time at={note.at} /></span>{note.done && <span className="tag">{t('labelTask.answered')}</span>}</p>
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

/** The picture that is asked about, with the places. */
function Asked({ path, sample, notes }: { path: string; sample: number; notes: Note[] }) {
  const { n } = useI18n()
  const found = useQuery({ queryKey: ['objects', 'dataset_version', 'asked', path, sample], queryFn: ({ signal }) => request<Sample>(`${path}/samples/${sample}`, { signal }), retry: false })
  const { data } = found
  if (!data || data.width <= 0) return null
  const shapes = data.annotation.shapes?.filter((s) => notes.some((note) => note.shape === s.id))
  return (
    <figure className="thread-picture" style={{ aspectRatio: `${data.width} / ${data.height}`, width: `min(100%, ${Math.round((240 * data.width) / data.height)}px)` }}>
      <img src={thumbnailUrl(path, data, 512)} alt={data.name} loading="lazy" />
      <Shapes shapes={shapes} width={data.width} height={data.height} colorOf={() => '#8a5a00'} names />
      {notes.map((note, i) => note.x !== null && note.y !== null && !note.done && <span key={note.id} className="note-number num" style={{ left: `${(100 * note.x) / data.width}%`, top: `${(100 * note.y) / data.height}%` }}>{n(i + 1)}</span>)}
    </figure>
  )
}
