import { useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button, Modal, Select } from 'antd'
import { useState } from 'react'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import type { Annotation, Change, Shape } from '../../canvas'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { thumbnailUrl, type Sample } from '../datasets/samples'
import { Shapes } from '../datasets/Shapes'
import type { BenchStore } from './bench'
import type { Entry } from './journal'
import { changeOf } from './operations'
import type { LabelDefinition } from './surface'
import { useBenchState } from './useBench'

/** So many are shown; each that is settled makes room for the next. */
const atOnce = 50
/** So much of a text is shown. */
const noteMost = 1000

/** What the server did not apply, side by side with what it has: nothing is lost until somebody has chosen. */
export function Troubles({ bench, labels, onClose }: { bench: BenchStore; labels: readonly LabelDefinition[]; onClose: () => void }) {
  const { t } = useI18n()
  const troubles = useBenchState(bench, (s) => s.status.troubles)
  const closed = troubles.filter(isClosed)
  const refused = troubles.filter((e) => e.state === 'refused' && !isClosed(e))
  const conflicts = troubles.filter((e) => e.state === 'conflict')
  const listed = [...conflicts, ...refused]
  const settle = (entries: readonly Entry[], choice: 'mine' | 'theirs') => entries.forEach((e) => bench.sync.settle(e.id, choice))
  return (
    <Modal open title={t('bench.troublesTitle')} footer={null} onCancel={onClose} width={760} transitionName="" maskTransitionName="">
      {closed.length > 0 && <NewDraft bench={bench} entries={closed} />}
      {(refused.length > 1 || conflicts.length > 1) && (
        <div className="row wrap end">
          {conflicts.length > 1 && <Button size="small" onClick={() => settle(conflicts, 'theirs')}>{t('bench.allTheirs', { n: conflicts.length })}</Button>}
          {conflicts.length > 1 && <Button size="small" onClick={() => settle(conflicts, 'mine')}>{t('bench.allMine', { n: conflicts.length })}</Button>}
          {refused.length > 1 && <Button size="small" onClick={() => settle(refused, 'mine')}>{t('bench.tryAllAgain', { n: refused.length })}</Button>}
        </div>
      )}
      <ul className="bench-troubles">
        {listed.slice(0, atOnce).map((entry) => <Trouble key={entry.id} bench={bench} entry={entry} labels={labels} />)}
      </ul>
      {listed.length > atOnce && <p className="muted">{t('bench.moreTroubles', { n: listed.length - atOnce })}</p>}
      {troubles.length === 0 && <p>{t('bench.saved')}</p>}
    </Modal>
  )
}

/** The version takes no changes any more: it was published. A sample that was handed in, in another tab, is none of that. */
function isClosed(entry: Entry): boolean {
  return entry.state === 'refused' && entry.problem?.field !== 'assignment' && (entry.problem?.code === 'conflict' || entry.problem?.code === 'published')
}

function Trouble({ bench, entry, labels }: { bench: BenchStore; entry: Entry; labels: readonly LabelDefinition[] }) {
  const { t, sentence } = useI18n()
  const { operation } = entry
  const [label, setLabel] = useState<string | null>(null)
  const mine = operation.op === 'put' ? operation.shape : null
  const wrongLabel = entry.problem?.field?.includes('label') === true && mine !== null
  const { path, sample: id, layer } = entry
  const { data: sample = null } = useQuery({ queryKey: ['objects', 'dataset_version', 'trouble', path, id, layer ?? 0], queryFn: ({ signal }) => request<Sample>(`${path}/samples/${id}`, { query: { layer }, signal }), retry: false, staleTime: 0 })
  const theirs = sample ? standing(operation, sample.annotation as Annotation) : { shape: entry.theirs ?? null }
  return (
    <li className="panel">
      <p>{entry.state === 'conflict' ? t('bench.conflictText') : sentence(entry.problem?.message ?? '', entry.problem?.message_zh)} <span className="muted num">{sample?.name ?? t('bench.sampleNumber', { n: entry.sample })}</span></p>
      <div className="two">
        <Side bench={bench} path={path} title={t('bench.mine')} shape={mine} sample={sample} note={saidOf(operation, t)} />
        <Side bench={bench} path={path} title={t('bench.theirs')} shape={theirs.shape} sample={sample} note={theirs.shape ? null : (theirs.text ?? t('bench.nothingThere'))} />
      </div>
      <div className="row wrap end">
        {wrongLabel && mine && (
          <>
            <Select size="small" className="bench-pick" aria-label={t('bench.labels')} value={label} options={labels.filter((l) => !l.retired).map((l) => ({ value: l.name, label: l.name }))} onChange={setLabel} />
            <Button size="small" disabled={label === null} onClick={() => label !== null && bench.sync.send(entry, entry, { op: 'put', shape: { ...mine, label } })}>{t('bench.sendAs')}</Button>
          </>
        )}
        <Button size="small" onClick={() => bench.sync.settle(entry.id, 'theirs')}>{t(entry.state === 'conflict' ? 'bench.keepTheirs' : 'bench.discard')}</Button>
        <Button size="small" type="primary" onClick={() => bench.sync.settle(entry.id, 'mine')}>{t(entry.state === 'conflict' ? 'bench.keepMine' : 'bench.tryAgain')}</Button>
      </div>
    </li>
  )
}

/** What a change says, in words; a shape is shown instead. */
function saidOf(change: Change, t: ReturnType<typeof useI18n>['t']): string | null {
  switch (change.op) {
    case 'put': return null
    case 'remove': return t('bench.removed')
    case 'label': return change.on ? change.label : `${change.label}: ${t('bench.removed')}`
    case 'text': return change.text ?? t('bench.removed')
    case 'attribute': return `${change.name}: ${change.value === null ? t('bench.removed') : valueText(change.value)}`
    case 'replace': return t('bench.everything')
    case 'relabel': return Object.entries(change.labels).map(([from, to]) => `${from} → ${to}`).join(', ')
  }
}

const valueText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** What the server has where a change would have gone. */
function standing(change: Change, { shapes = [], labels = [], text, attributes = {} }: Annotation): { shape: Shape | null; text?: string | null } {
  switch (change.op) {
    case 'put': return { shape: shapes.find((s) => s.id === change.shape.id) ?? null }
    case 'remove': return { shape: shapes.find((s) => s.id === change.shape) ?? null }
    case 'text': return { shape: null, text: text ?? null }
    case 'attribute': return { shape: null, text: change.name in attributes ? `${change.name}: ${valueText(attributes[change.name])}` : null }
    default: return { shape: null, text: labels.join(', ') || null }
  }
}

function Side({ bench, path, title, shape, sample, note }: { bench: BenchStore; path: string; title: string; shape: Shape | null; sample: Sample | null; note: string | null }) {
  return (
    <figure className="bench-side" aria-label={title}>
      <figcaption className="muted">{title}</figcaption>
      {shape && sample && sample.width > 0 && <div className="bench-thumb" style={{ aspectRatio: `${sample.width} / ${sample.height}`, maxWidth: `${(300 * sample.width) / sample.height}px` }}><img src={thumbnailUrl(path, sample, 512)} alt="" /><Shapes shapes={[shape as Sample['annotation']['shapes'] extends (infer S)[] | undefined ? S : never]} width={sample.width} height={sample.height} colorOf={bench.colorOf} names /></div>}
      {shape && <span className="chip"><span className="dot" style={{ background: bench.colorOf(shape.label) }} />{shape.label ?? shape.text}</span>}
      {note && <p className="pre">{note.slice(0, noteMost)}{note.length > noteMost && '…'}</p>}
    </figure>
  )
}

/** Work on a version that was published meanwhile goes to a new draft made from it: samples are found there by their names. */
function NewDraft({ bench, entries }: { bench: BenchStore; entries: readonly Entry[] }) {
  const i18n = useI18n()
  const { t } = i18n
  const { message } = App.useApp()
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const make = async () => {
    setBusy(true)
    try {
      for (const path of new Set(entries.map((e) => e.path))) {
        const parts = /^\/datasets\/(\d+)\/versions\/(\d+)$/.exec(path)
        if (!parts) continue
        const made = await request<Item>(`/datasets/${parts[1]}/versions`, { method: 'POST', body: { from: Number(parts[2]) } })
        const draft = `/datasets/${parts[1]}/versions/${made.id}`
        const mine = entries.filter((e) => e.path === path)
        const to = new Map<number, number>()
        for (const id of new Set(mine.map((e) => e.sample))) {
          const old = await request<Sample>(`${path}/samples/${id}`)
          to.set(id, await sampleNamed(draft, old))
        }
        for (const entry of mine) bench.sync.send(entry, { path: draft, sample: to.get(entry.sample) ?? 0 }, changeOf(entry.operation))
        void message.success(t('bench.draftMade', { name: String(made['name'] ?? made.id) }))
      }
      await invalidate(client, 'dataset_version')
    } catch (error) {
      void message.error(problemText(error, i18n))
    }
    setBusy(false)
  }
  return (
    <div className="panel bench-draft">
      <p>{t('bench.publishedText')}</p>
      <div className="row"><Button type="primary" loading={busy} onClick={() => void make()}>{t('bench.newDraft')}</Button>
        <Button onClick={() => entries.forEach((e) => bench.sync.settle(e.id, 'theirs'))}>{t('bench.discard')}</Button></div>
    </div>
  )
}

/** A draft's samples may still be on their way: it is asked until the one is there. */
async function sampleNamed(path: string, old: Sample): Promise<number> {
  for (let wait = 100; ; wait = Math.min(3000, wait * 2)) {
    const { items } = await request<{ items: Sample[] }>(`${path}/samples`, { query: { after: old.position - 1, limit: 1, state: 'any' } })
    const same = items.find((s) => s.name === old.name) ?? (await request<{ items: Sample[] }>(`${path}/samples`, { query: { q: old.name, limit: 20, state: 'any' } })).items.find((s) => s.name === old.name)
    if (same) return same.id
    await new Promise((done) => setTimeout(done, wait))
  }
}
