import { Modal } from 'antd'
import { useEscape } from '../components/hooks'
import { useI18n, type Key } from '../i18n'
import { useRegisteredKeys } from './keys'

const formKeys: { keys: string; label: Key }[] = [
  { keys: 'Ctrl+Enter', label: 'keys.submit' },
  { keys: 'Esc', label: 'keys.escape' },
]

export function KeyHelp({ onClose }: { onClose: () => void }) {
  const { t } = useI18n()
  useEscape(onClose)
  const registered = useRegisteredKeys()
  const groups: { title: Key; rows: { keys: string; label: Key; values?: Record<string, string | number> }[] }[] = [
    { title: 'keys.page', rows: registered.filter((s) => s.group === 'page' && s.keys !== '' && !s.plain) },
    { title: 'keys.form', rows: formKeys },
    { title: 'keys.everywhere', rows: registered.filter((s) => s.group === 'everywhere') },
  ]
  return (
    <Modal open title={t('keys.title')} footer={null} onCancel={onClose} transitionName="" maskTransitionName="" width={groups[0] && groups[0].rows.length > 20 ? 860 : 420} className={groups[0] && groups[0].rows.length > 20 ? 'keys-wide' : undefined}>
      {groups.filter((g) => g.rows.length > 0).map((group) => (
        <section key={group.title} className="keys">
          <h3>{t(group.title)}</h3>
          <dl>
            {group.rows.map((row) => (
              <div key={row.keys + row.label}>
                <dt>{row.keys.split('+').map((k) => <kbd key={k}>{k === ' ' ? t('keys.space') : k.length === 1 ? k.toUpperCase() : k}</kbd>)}</dt>
                <dd>{t(row.label, row.values)}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Modal>
  )
}
