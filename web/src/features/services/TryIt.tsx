import { useMutation } from '@tanstack/react-query'
import { Button, Input, Slider } from 'antd'
import { useEffect, useRef, useState, type ClipboardEvent, type DragEvent, type ReactNode } from 'react'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import { Result } from './Result'
import './services.css'
import { predict } from './services'

interface Asked {
  input: Blob
  url: string
  text: string | null
}

interface Props {
  /** Of the API, where the input is sent. */
  path: string
  /** What must have happened before it is sent, and what is told of that. */
  before?: () => Promise<void>
  state?: ReactNode
  /** To be followed instead of the model's own. */
  manifest?: object
  sample?: () => Promise<Blob>
}

/** Ask a model by hand: a picture, a text or a sound in; the answer drawn, its JSON beside it. */
export function TryIt({ path, before, state, manifest, sample }: Props) {
  const { t, n } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const [draft, setDraft] = useState('')
  const [threshold, setThreshold] = useState(0)
  const [over, setOver] = useState(false)
  const file = useRef<HTMLInputElement>(null)
  const asking = useMutation({
    mutationFn: async (input: Blob) => {
      await before?.()
      return predict(path, input, manifest)
    },
  })
  const url = asked?.url
  useEffect(() => () => {
    if (url) URL.revokeObjectURL(url)
  }, [url])
  const ask = (input: Blob, text: string | null = null) => {
    setAsked({ input, url: URL.createObjectURL(input), text })
    asking.mutate(input)
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
  const result = asking.data
  const times = result?.answer.times_ms
  const parts = (['queue', 'prepare', 'run', 'read'] as const).flatMap((name) => (times?.[name] === undefined ? [] : [`${t(`try.time.${name}`)} ${n(times[name], 1)}`]))
  return (
    <section className="try" onPaste={paste}>
      <div className={over ? 'try-drop over' : 'try-drop'} onDragOver={(e) => { e.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)} onDrop={drop}>
        <p>{t('try.drop')}</p>
        <div className="row wrap">
          <Button onClick={() => file.current?.click()}>{t('try.choose')}</Button>
          {sample && <Button onClick={() => void sample().then((blob) => (blob.type.startsWith('text/') ? blob.text().then((words) => ask(blob, words)) : ask(blob)))}>{t('try.sample')}</Button>}
          <input ref={file} type="file" hidden aria-label={t('try.choose')} accept="image/*,audio/*,text/*" onChange={(e) => { const first = e.target.files?.[0]; if (first) ask(first); e.target.value = '' }} />
        </div>
        <Input.TextArea aria-label={t('try.text')} placeholder={t('try.text')} autoSize={{ minRows: 1, maxRows: 6 }} value={draft} onChange={(e) => setDraft(e.target.value)}
          onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && draft) ask(new Blob([draft], { type: 'text/plain; charset=utf-8' }), draft) }} />
        {draft !== '' && <Button type="primary" onClick={() => ask(new Blob([draft], { type: 'text/plain; charset=utf-8' }), draft)}>{t('try.send')}</Button>}
      </div>
      {asked && manifest && !asking.isPending && <div><Button onClick={() => ask(asked.input, asked.text)}>{t('try.again')}</Button></div>}
      {state}
      {asking.error && <ProblemNote error={asking.error} />}
      {asked && (
        <div className="try-answer" aria-busy={asking.isPending}>
          <div>
            <Result input={asked.input} url={asked.url} text={asked.text} prediction={result?.answer ?? null} threshold={threshold} />
            {result && (
              <div className="try-threshold">
                <span id="threshold" className="muted">{t('try.threshold')}</span>
                <Slider min={0} max={1} step={0.01} value={threshold} onChange={setThreshold} ariaLabelledByForHandle="threshold" />
                <span className="num">{n(threshold, 2)}</span>
              </div>
            )}
            {result && <p className="muted num">{t('try.took', { n: n(result.ms, 0) })}{parts.length > 0 && ` (${parts.join(' · ')} ms)`}</p>}
          </div>
          {result && <pre className="try-json" tabIndex={0} aria-label={t('try.json')}>{JSON.stringify(result.answer, null, 2)}</pre>}
        </div>
      )}
    </section>
  )
}
