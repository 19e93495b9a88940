import { App, Button, Modal } from 'antd'
import { useState, type KeyboardEvent } from 'react'
import { nameOf } from '../../app/keys'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { clashes, commands, keyOf } from './commands'
import { shown } from './keyTable'
import type { LabelDefinition } from './surface'
import { useOwnKeys, type Keys } from './useCommands'

/** Everybody's own keys, kept on the server. */
export function KeysDialog({ labels, onClose }: { labels: readonly LabelDefinition[]; onClose: () => void }) {
  const i18n = useI18n()
  const { t } = i18n
  const { message } = App.useApp()
  const own = useOwnKeys()
  const [keys, setKeys] = useState<Keys>(own.keys)
  const [busy, setBusy] = useState(false)
  const wrong = clashes(keys)
  const ofLabels = new Set(labels.map((l) => l.key))
  const problemOf = (id: string): string | null => {
    const other = wrong.find(([a, b]) => a.id === id || b.id === id)?.find((c) => c.id !== id)
    const command = commands.find((c) => c.id === id)
    if (other) return t('bench.keyClash', { name: t(other.title) })
    return command && ofLabels.has(keyOf(command, keys)) ? t('bench.keyLabel') : null
  }
  const press = (id: string) => (event: KeyboardEvent) => {
    const { nativeEvent } = event
    if (nativeEvent.isComposing || ['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return
    // The way through the dialog stays what it is.
    if (event.key === 'Tab' || event.key === 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    setKeys((old) => ({ ...old, [id]: event.key === 'Backspace' ? '' : nameOf(nativeEvent) }))
  }
  const save = async () => {
    setBusy(true)
    try {
      await own.keep(Object.fromEntries(Object.entries(keys).filter(([id, key]) => commands.some((c) => c.id === id && c.key !== key))))
      void message.success(t('bench.keysSaved'))
      onClose()
    } catch (error) {
      void message.error(problemText(error, i18n))
      setBusy(false)
    }
  }
  return (
    <Modal
      open title={t('bench.keysTitle')} width={620} onCancel={onClose} transitionName="" maskTransitionName=""
      footer={<div className="row end"><Button onClick={() => setKeys({})}>{t('bench.keysReset')}</Button><Button type="primary" loading={busy} disabled={commands.some((c) => problemOf(c.id) !== null)} onClick={() => void save()}>{t('form.save')}</Button></div>}
    >
      <p className="muted">{t('bench.keysHint')}</p>
      <ul className="bench-keys">
        {commands.map((c) => (
          <li key={c.id}>
            <label htmlFor={`key-${c.id}`}>{t(c.title)}</label>
            <input id={`key-${c.id}`} className="bench-key" readOnly value={shown(keyOf(c, keys))} onKeyDown={press(c.id)} aria-invalid={problemOf(c.id) !== null} />
            {problemOf(c.id) && <span className="field-error">{problemOf(c.id)}</span>}
          </li>
        ))}
      </ul>
    </Modal>
  )
}
