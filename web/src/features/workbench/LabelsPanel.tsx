import { Input } from 'antd'
import { memo, useMemo, useState } from 'react'
import { shapeTypes } from '../../canvas'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import type { LabelDefinition } from './surface'
import { useBenchState } from './useBench'

/** The labels with their keys; those of the sample or of the selection are marked. */
export const LabelsPanel = memo(function LabelsPanel({ bench, labels, mayAdd }: { bench: BenchStore; labels: readonly LabelDefinition[]; mayAdd: boolean }) {
  const { t } = useI18n()
  const [text, setText] = useState('')
  const chosen = useBenchState(bench, (s) => s.label)
  const version = useBenchState(bench, (s) => s.version)
  const selection = useBenchState(bench, (s) => s.selection)
  const hidden = useBenchState(bench, (s) => s.view.hidden)
  const locked = useBenchState(bench, (s) => s.view.locked)
  const closed = useBenchState(bench, (s) => s.closed && !s.grid)
  // On the sheet of many nothing is said of the one that was open.
  const grid = useBenchState(bench, (s) => s.grid)
  const document = grid ? null : bench.state.document
  const counts = useMemo(() => {
    const found = new Map<string, number>()
    for (const name of [...(document?.labels ?? []), ...(document?.shapes ?? []).map((s) => s.label ?? '')]) found.set(name, (found.get(name) ?? 0) + 1)
    return found
    // The list of shapes is the document's own and changes in place: its version says when.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [document, version])
  // Only what is drawn can be hidden or locked.
  const drawn = shapeTypes[bench.type].length > 0
  const wanted = text.trim().toLowerCase()
  const listed = labels.filter((l) => (!l.retired || counts.has(l.name)) && l.name.toLowerCase().includes(wanted))
  const marked = (name: string) => (document?.labels.includes(name) ?? false) || selection.some((id) => document?.shape(id)?.label === name)
  const toggle = (set: 'hidden' | 'locked', name: string) => {
    const next = new Set(bench.state.view[set])
    if (!next.delete(`label:${name}`)) next.add(`label:${name}`)
    bench.set({ view: { ...bench.state.view, [set]: next } })
  }
  const eye = (set: 'hidden' | 'locked', name: string) => {
    const on = (set === 'hidden' ? hidden : locked)?.has(`label:${name}`) ?? false
    const [title, icon] = set === 'hidden' ? [t(on ? 'bench.showOne' : 'bench.hideOne'), on ? 'hidden' : 'eye'] as const : [t(on ? 'bench.unlockOne' : 'bench.lockOne'), on ? 'lock' : 'unlock'] as const
    return <button type="button" className="bench-eye" aria-pressed={on} aria-label={`${title}: ${name}`} title={title} onClick={() => toggle(set, name)}><Icon name={icon} size={14} /></button>
  }
  const add = () => {
    const name = text.trim()
    if (name === '') return
    bench.choose(labels.find((l) => l.name.toLowerCase() === wanted)?.name ?? listed[0]?.name ?? name)
    setText('')
  }
  return (
    <section className="bench-panel bench-labels" aria-label={t('bench.labels')}>
      <h2>{t('bench.labels')}</h2>
      {(labels.length > 10 || mayAdd) && <Input size="small" allowClear aria-label={t('bench.filterLabels')} placeholder={t(mayAdd ? 'bench.newLabel' : 'bench.filterLabels')} value={text} maxLength={50} onChange={(e) => setText(e.target.value)} onPressEnter={add} />}
      {labels.length === 0 && !mayAdd && <p className="muted">{t('bench.noLabels')}</p>}
      <ul>
        {listed.map((l) => (
          <li key={`${l.parent ?? ''}/${l.name}`} className={l.parent ? 'bench-child' : undefined}>
            <button type="button" className="bench-label" aria-pressed={marked(l.name)} data-chosen={chosen === l.name} disabled={bench.fixed || closed || l.retired} onClick={() => bench.choose(l.name)}>
              <span className="dot" style={{ background: l.color }} />
              <span className="clip-line grow">{l.name}</span>
              {counts.has(l.name) && <span className="muted num">{counts.get(l.name)}</span>}
              {l.key && <kbd>{l.key.toUpperCase()}</kbd>}
            </button>
            {drawn && eye('hidden', l.name)}
            {drawn && eye('locked', l.name)}
          </li>
        ))}
      </ul>
    </section>
  )
})
