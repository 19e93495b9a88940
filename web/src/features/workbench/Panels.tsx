import { Button, InputNumber, Modal } from 'antd'
import { memo, useState, type ReactNode } from 'react'
import { Icon } from '../../components/Icon'
import { Markdown } from '../../components/Markdown'
import { useI18n, type Key } from '../../i18n'
import type { BenchStore, Panel } from './bench'
import { HistoryPanel } from './HistoryPanel'
import { KeysDialog } from './KeysDialog'
import type { LabelDefinition } from './surface'
import { Troubles } from './Troubles'
import { useBenchState } from './useBench'

const titles: Partial<Record<NonNullable<Panel>, Key>> = { instructions: 'bench.instructions', examples: 'bench.examples', history: 'bench.history' }

/** What opens above or beside the work: one at a time. */
export const Panels = memo(function Panels({ bench, labels, instructions, addExample, count, onJump }: { bench: BenchStore; labels: readonly LabelDefinition[]; instructions: string | null; addExample?: ReactNode; count: number; onJump: (index: number) => void }) {
  const { t } = useI18n()
  const panel = useBenchState(bench, (s) => s.panel)
  const chosen = useBenchState(bench, (s) => s.label)
  const title = panel && titles[panel]
  const close = () => bench.set({ panel: null, past: null })
  const label = labels.find((l) => l.name === chosen)
  const examples = label?.examples ?? []
  return (
    <>
      {/* No dialog: the page's keys hold while one reads. */}
      {title && (
        <section className="bench-drawer" aria-label={t(title)}>
          <header className="row"><h2 className="grow">{t(title)}</h2><Button type="text" size="small" aria-label={t('bench.close')} icon={<Icon name="close" size={14} />} onClick={close} /></header>
          {panel === 'instructions' && (instructions ? <Markdown text={instructions} /> : <p className="muted">{t('bench.noInstructions')}</p>)}
          {panel === 'history' && <HistoryPanel bench={bench} />}
          {panel === 'examples' && (label && examples.length > 0 ? (
            <ul className="bench-examples">
              {examples.map((e) => <li key={e.url} className={e.wrong ? 'example wrong' : 'example'}><img src={e.url} alt={e.caption || label.name} loading="lazy" /><p><strong>{e.wrong ? t('examples.wrong') : t('examples.right')}</strong> {e.caption}</p></li>)}
            </ul>
          ) : <p className="muted">{t('bench.noExamples')}</p>)}
          {panel === 'examples' && addExample}
        </section>
      )}
      {panel === 'troubles' && <Troubles bench={bench} labels={labels} onClose={close} />}
      {panel === 'keys' && <KeysDialog labels={labels} onClose={close} />}
      {panel === 'jump' && <Jump count={count} onClose={close} onJump={onJump} />}
    </>
  )
})

function Jump({ count, onClose, onJump }: { count: number; onClose: () => void; onJump: (index: number) => void }) {
  const { t, n } = useI18n()
  const [value, setValue] = useState<number | null>(null)
  const go = () => {
    onClose()
    if (value !== null) onJump(value - 1)
  }
  return (
    <Modal open title={t('bench.jump')} width={320} onCancel={onClose} onOk={go} okButtonProps={{ disabled: value === null }} transitionName="" maskTransitionName="">
      <InputNumber autoFocus min={1} max={Math.max(1, count)} precision={0} className="wide" aria-label={t('bench.numberOf', { n: n(count) })} placeholder={t('bench.numberOf', { n: n(count) })} value={value} onChange={setValue} onPressEnter={go} />
    </Modal>
  )
}
