import { useRef, type ComponentProps } from 'react'
import { useI18n } from '../i18n'
import { mountsOf, useFormAround } from './formContext'

type Props = Omit<ComponentProps<'textarea'>, 'value' | 'onChange'> & { id: string; value: string; onChange: (value: string) => void }

const fewest = 4
const most = 16

/** A few lines that a shell reads, with their numbers, and beside them the paths that the form's other fields bring into the container. */
export function CodeInput({ id, value, onChange, ...rest }: Props) {
  const { t } = useI18n()
  const around = useFormAround()
  const area = useRef<HTMLTextAreaElement>(null)
  const numbers = useRef<HTMLDivElement>(null)
  const count = value.split('\n').length
  const mounted = around.fields.some((f) => f.mount !== null)
  const insert = (path: string) => {
    const box = area.current
    if (!box) return
    const { selectionStart: from, selectionEnd: to } = box
    // Through the browser, so that it can be undone.
    box.focus()
    box.setSelectionRange(from, to)
    if (!document.execCommand('insertText', false, path)) onChange(value.slice(0, from) + path + value.slice(to))
  }
  return (
    <div className={mounted ? 'code-field with-paths' : 'code-field'}>
      <div className="code-input" data-invalid={rest['aria-invalid'] ? true : undefined}>
        <div className="code-numbers" aria-hidden="true"><div ref={numbers}>{Array.from({ length: count }, (_, i) => <div key={i}>{i + 1}</div>)}</div></div>
        <textarea
          {...rest} ref={area} id={id} value={value} rows={Math.min(most, Math.max(fewest, count))} wrap="off" spellCheck={false} autoCapitalize="off" autoComplete="off"
          onChange={(e) => onChange(e.target.value)}
          onScroll={(e) => {
            if (numbers.current) numbers.current.style.transform = `translateY(${-e.currentTarget.scrollTop}px)`
          }}
        />
      </div>
      {mounted && <Paths paths={mountsOf(around)} onInsert={insert} title={t('code.paths')} hint={t('code.noPaths')} />}
    </div>
  )
}

function Paths({ paths, title, hint, onInsert }: { paths: readonly string[]; title: string; hint: string; onInsert: (path: string) => void }) {
  const { t } = useI18n()
  return (
    <div className="code-paths" role="group" aria-label={title}>
      <span className="sub-title">{title}</span>
      {paths.length === 0 && <p className="field-help">{hint}</p>}
      {paths.map((path) => <button key={path} type="button" className="code-path" title={t('code.insert', { path })} aria-label={t('code.insert', { path })} onClick={() => onInsert(path)}>{path}</button>)}
    </div>
  )
}
