import { Button, Input } from 'antd'
import { useRef, useState, type ClipboardEvent, type DragEvent } from 'react'
import { useApp } from '../../app/context'
import type { EditProps } from '../../components/editors'
import { Icon } from '../../components/Icon'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { sendPicture } from '../label-sets/examples'
import './labelling.css'
import { mostPictureBytes, pictureTypes } from './instructions'

interface Caret {
  start: number
  end: number
}

const spliced = (text: string, { start, end }: Caret, by: string) => text.slice(0, start) + by + text.slice(end)

/** What the people of a task are told, in Markdown. A picture that is dropped or pasted is uploaded and stands where the cursor was. */
export function InstructionsEdit({ id, value, onChange, onInvalid }: EditProps) {
  const i18n = useI18n()
  const { t } = i18n
  const { project } = useApp()
  const text = typeof value === 'string' ? value : ''
  // Typing goes on while pictures are on their way.
  const now = useRef(text)
  now.current = text
  const area = useRef<HTMLTextAreaElement | null>(null)
  const chosen = useRef<HTMLInputElement>(null)
  const sending = useRef(0)
  const [busy, setBusy] = useState(0)
  const [failed, setFailed] = useState<string | null>(null)
  const [over, setOver] = useState(false)

  const set = (next: string) => {
    now.current = next
    onChange(next)
  }
  const count = (by: 1 | -1) => {
    sending.current += by
    setBusy(sending.current)
    onInvalid(sending.current > 0 ? t('labelTask.sendingPicture') : null)
  }
  const add = (files: readonly File[]) => {
    if (!project) return
    setFailed(null)
    const caret: Caret = { start: area.current?.selectionStart ?? now.current.length, end: area.current?.selectionEnd ?? now.current.length }
    for (const file of files) {
      if (!pictureTypes.includes(file.type)) return setFailed(t('labelTask.noPicture', { name: file.name }))
      if (file.size > mostPictureBytes) return setFailed(t('labelTask.largePicture', { name: file.name, n: mostPictureBytes >> 20 }))
    }
    let at = caret
    for (const file of files) {
      // Without brackets, which would end it early.
      const name = file.name.replace(/\.[^.]*$/, '').replace(/[[\]()]/g, ' ').trim()
      const token = `![${name}](sending:${crypto.randomUUID()})`
      set(spliced(now.current, at, token))
      at = { start: at.start + token.length, end: at.start + token.length }
      count(1)
      sendPicture(project.id, file).then((upload) => set(now.current.replace(token, () => `![${name}](upload:${upload})`)), (error: unknown) => {
        set(now.current.replace(token, ''))
        setFailed(problemText(error, i18n))
      }).finally(() => count(-1))
    }
  }
  const taken = (event: ClipboardEvent | DragEvent, files: readonly File[]) => {
    if (files.length === 0) return
    event.preventDefault()
    add(files)
  }
  return (
    <div
      className={over ? 'instructions-edit over' : 'instructions-edit'} onDragLeave={() => setOver(false)}
      onDragOver={(e) => { if (e.dataTransfer.types.includes('Files')) { e.preventDefault(); setOver(true) } }} onDrop={(e) => { setOver(false); taken(e, [...e.dataTransfer.files]) }}
    >
      <Input.TextArea id={id} ref={(found) => { area.current = found?.resizableTextArea?.textArea ?? null }} aria-labelledby={`${id}-title`} value={text} onChange={(e) => set(e.target.value)} onPaste={(e) => taken(e, [...e.clipboardData.files])} autoSize={{ minRows: 4, maxRows: 16 }} />
      <p className="field-help instructions-add">
        <input ref={chosen} type="file" hidden data-testid="instructions-files" accept={pictureTypes.join(',')} multiple onChange={(e) => { add([...(e.target.files ?? [])]); e.target.value = '' }} />
        <Button size="small" icon={<Icon name="picture" />} onClick={() => chosen.current?.click()}>{t('labelTask.addPicture')}</Button>
        <span role="status">{busy > 0 ? t('labelTask.sendingPicture') : t('labelTask.instructionsHelp')}</span>
      </p>
      {failed && <p className="field-error" role="alert">{failed}</p>}
    </div>
  )
}
