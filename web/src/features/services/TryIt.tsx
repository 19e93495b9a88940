import { useMutation } from '@tanstack/react-query'
import { Button, Input } from 'antd'
import { useEffect, useRef, useState, type ClipboardEvent, type DragEvent, type ReactNode } from 'react'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import { Result } from './Result'
import './services.css'
import { predict } from './services'
import { Thresholds } from './Thresholds'

interface Asked {
  input: Blob
  url: string
  text: string | null
}

type Answered = Awaited<ReturnType<typeof predict>> & { by: Readonly<Record<string, number>> }

export type Takes = 'picture' | 'text' | 'sound'
const accepted = { picture: 'image/*', text: 'text/*', sound: 'audio/*', any: 'image/*,audio/*,text/*' }

interface Props {
  /** Of the API, where the input is sent. */
  path: string
  /** What must have happened before it is sent, and what is told of that. */
  before?: () => Promise<void>
  state?: ReactNode
  /** To be followed instead of the model's own. */
  manifest?: object
  /** The model's own, by name: the score's is drawn by, for the others it is asked again. */
  thresholds?: Readonly<Record<string, number>>
  /** What the model takes; left out: anything. */
  takes?: Takes
  sample?: () => Promise<Blob>
}

const none = {}

/** Ask a model by hand: a picture, a text or a sound in; the answer drawn, its JSON beside it. */
export function TryIt({ path, before, state, manifest, thresholds = none, takes, sample }: Props) {
  const { t, n } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const [draft, setDraft] = useState('')
  const [moved, setMoved] = useState<Readonly<Record<string, number>>>({})
  const [result, setResult] = useState<Answered | null>(null)
  const [over, setOver] = useState(false)
  const file = useRef<HTMLInputElement>(null)
  const asking = useMutation({
    mutationFn: async ({ input, by }: { input: Blob; by: Readonly<Record<string, number>> }): Promise<Answered> => {
      await before?.()
      return { ...(await predict(path, input, by, manifest)), by }
    },
  })
  const fetching = useMutation({
    mutationFn: async () => {
      const blob = await sample?.()
      return blob && { blob, text: blob.type.startsWith('text/') ? await blob.text() : null }
    },
    onSuccess: (found) => found && ask(found.blob, found.text),
  })
  const { url, input } = asked ?? {}
  useEffect(() => () => {
    if (url) URL.revokeObjectURL(url)
  }, [url])
  // Of several at once the last one counts.
  const send = (input: Blob, by: Readonly<Record<string, number>>) => asking.mutate({ input, by: Object.fromEntries(Object.entries(by).filter(([name]) => name in thresholds)) }, { onSuccess: setResult })
  const ask = (input: Blob, text: string | null = null) => {
    setAsked({ input, url: URL.createObjectURL(input), text })
    setResult(null)
    send(input, moved)
  }
  const values = Object.keys(thresholds).length > 0 ? { ...thresholds, ...moved } : { score: moved['score'] ?? 0 }
  const move = (name: string, value: number) => setMoved((now) => ({ ...now, [name]: value }))
  // What is above a higher score is there already.
  const settle = (name: string, value: number) => {
    const before = result?.by[name] ?? thresholds[name]
    if (input && before !== undefined && (name === 'score' ? value < before : value !== before)) send(input, { ...moved, [name]: value })
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const first = event.dataTransfer.files[0]
    if (first) ask(first)
  }
  const paste = (event: ClipboardEvent) => {
    const first = event.clipboardData.files[0]
    if (!first) return
    event.preventDefault()
    ask(first)
  }
  const times = result?.answer.times_ms
  const parts = (['queue', 'prepare', 'run', 'read'] as const).flatMap((name) => (times?.[name] === undefined ? [] : [`${t(`try.time.${name}`)} ${n(times[name], 1)}`]))
  return (
    <section className="try" onPaste={paste}>
      <div className={over ? 'try-drop over' : 'try-drop'} onDragOver={(e) => { e.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)} onDrop={drop}>
        <p>{t(`try.drop.${takes ?? 'any'}`)}</p>
        <div className="row wrap">
          <Button onClick={() => file.current?.click()}>{t('try.choose')}</Button>
          {sample && <Button loading={fetching.isPending} onClick={() => fetching.mutate()}>{t('try.sample')}</Button>}
          <input ref={file} type="file" hidden aria-label={t('try.choose')} accept={accepted[takes ?? 'any']} onChange={(e) => { const first = e.target.files?.[0]; if (first) ask(first); e.target.value = '' }} />
        </div>
        {(takes ?? 'text') === 'text' && <Input.TextArea aria-label={t('try.text')} placeholder={t('try.text')} autoSize={{ minRows: 1, maxRows: 6 }} value={draft} onChange={(e) => setDraft(e.target.value)}
          onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && draft) ask(new Blob([draft], { type: 'text/plain; charset=utf-8' }), draft) }} />}
        {draft !== '' && <Button type="primary" onClick={() => ask(new Blob([draft], { type: 'text/plain; charset=utf-8' }), draft)}>{t('try.send')}</Button>}
      </div>
      {asked && manifest && !asking.isPending && <div><Button onClick={() => ask(asked.input, asked.text)}>{t('try.again')}</Button></div>}
      {state}
      {fetching.error && <ProblemNote error={fetching.error} />}
      {asking.error && <ProblemNote error={asking.error} />}
      {asked && (
        <div className="try-answer" aria-busy={asking.isPending}>
          <div>
            <Result input={asked.input} url={asked.url} text={asked.text} prediction={result?.answer ?? null} threshold={values.score ?? 0} />
            {result && <Thresholds values={values} onChange={move} onDone={settle} />}
            {result && <p className="muted num">{t('try.took', { n: n(result.ms, 0) })}{parts.length > 0 && ` (${parts.join(' · ')} ms)`}</p>}
          </div>
          {result && <pre className="try-json" tabIndex={0} aria-label={t('try.json')}>{JSON.stringify(result.answer, null, 2)}</pre>}
        </div>
      )}
    </section>
  )
}
