import { Modal } from 'antd'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { useDebounced } from '../components/hooks'
import { Icon } from '../components/Icon'
import { MarkedText } from '../components/Marked'
import { useI18n } from '../i18n'
import { useEntries, type Found } from './paletteEntries'

// How far a key goes.
const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }

export function Palette({ onClose }: { onClose: () => void }) {
  const { t } = useI18n()
  const [text, setText] = useState('')
  // The entry one is at, not its place: what is found later comes in above others.
  const [active, setActive] = useState<string | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const typed = text.trim()
  const q = useDebounced(typed, 120)
  const { entries, asking } = useEntries(typed, q)
  const at = Math.max(0, entries.findIndex((entry) => entry.id === active))
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [at, entries])

  const run = (entry: Found | undefined) => {
    if (!entry) return
    onClose()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const step = steps[event.key]
    if (step !== undefined) setActive(entries[Math.max(0, Math.min(at + step, entries.length - 1))]?.id ?? null)
    else if (event.key === 'Enter') run(entries[at])
    else return
    event.preventDefault()
  }

  return (
    <Modal open onCancel={onClose} afterOpenChange={() => input.current?.focus()} transitionName="" maskTransitionName="" footer={null} closable={false} width={560} className="palette" title={<span className="visually-hidden">{t('palette.title')}</span>} style={{ top: 80 }}>
      <div className="palette-input">
        <Icon name="search" />
        <input
          ref={input}
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={entries[at] ? `palette-${at}` : undefined}
          aria-label={t('palette.placeholder')}
          placeholder={t('palette.placeholder')}
          value={text}
          onChange={(e) => {
            setText(e.target.value)
            setActive(null)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul id="palette-list" role="listbox" aria-label={t('palette.title')} ref={list}>
        {entries.map((entry, i) => (
          <li key={entry.id} id={`palette-${i}`} role="option" aria-selected={i === at} onMouseMove={() => setActive(entry.id)} onClick={() => run(entry)}>
            <Icon name={entry.icon} size={14} />
            <span className="palette-title">
              <MarkedText text={entry.title} marks={entry.marks} />
              {entry.about && <span className="muted"> <MarkedText text={entry.about} marks={entry.aboutMarks} /></span>}
            </span>
            <span className="muted">{entry.note}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p className="palette-none" role="status">{q === typed && !asking ? t('palette.none', { q: text }) : t('palette.searching')}</p>}
      <p className="palette-hint muted">{t('palette.hint')}</p>
    </Modal>
  )
}
