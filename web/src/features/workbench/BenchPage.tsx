import { Alert, Button, Tooltip } from 'antd'
import { memo, Suspense, useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { useLatest, useShown, useTitle } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { contentUrl } from '../datasets/samples'
import '../datasets/data.css'
import { AttributesPanel } from './AttributesPanel'
import type { BenchStore } from './bench'
import type { Page } from './commands'
import { Filmstrip } from './Filmstrip'
import { LabelsPanel } from './LabelsPanel'
import { drawn } from './layers'
import { LayersPanel } from './LayersPanel'
import { ObjectsPanel } from './ObjectsPanel'
import { Panels } from './Panels'
import { PastShown } from './PastShown'
import { preloadPicture } from './preload'
import type { Source } from './source'
import { colorOfClient, StateLine } from './StateLine'
import type { LabelDefinition, Surface, SurfaceHandle } from './surface'
import { mayGrid, surfaceOf } from './surfaces'
import { placed } from './Threads'
import { Toolbar } from './Toolbar'
import { useBenchState } from './useBench'
import { useCommands, useOwnKeys } from './useCommands'
import { useLayers } from './useLayers'
import { usePast } from './usePast'
import { rejectedShapes } from './work'
import './workbench.css'

export interface TaskPart {
  stage: 'label' | 'review'
  submit: (nothing: boolean) => void
  takeBack: () => void
  decide: (accept: boolean) => void
  /** Stands in the head: progress, submit, accept. */
  head: ReactNode
  /** Stands above the surface: why it was rejected, who made it. */
  note: ReactNode
  side: ReactNode
  dialogs: ReactNode
}

const nothing = {}

interface Props {
  bench: BenchStore
  source: Source
  labels: readonly LabelDefinition[]
  mayAdd: boolean
  title: string
  backUrl: string
  instructions: string | null
  /** Which samples there are, where that can be chosen. */
  filter?: ReactNode
  /** Stands with the examples of labels, for whoever may add one. */
  addExample?: ReactNode
  openId: number | null
  task: TaskPart | null
}

/** The workbench: filmstrip, surface, panels. What is special about a task comes as `task`. */
export function BenchPage({ bench, source, labels, mayAdd, title, backUrl, instructions, filter, addExample, openId, task }: Props) {
  const i18n = useI18n()
  const { t, n } = i18n
  const alive = useShown()
  const own = useOwnKeys()
  const [failed, setFailed] = useState<unknown>(null)
  // Each for itself: what the network says of a sample is drawn where it is shown, not over the whole page.
  const sample = useBenchState(bench, (s) => s.sample)
  const grid = useBenchState(bench, (s) => s.grid)
  const before = useBenchState(bench, (s) => s.before)
  const shown = useBenchState(bench, (s) => s.past)
  const troubled = useBenchState(bench, (s) => s.status.troubles.length > 0)
  bench.film = source.film
  bench.known = source.known
  bench.labels = labels
  useTitle(sample?.name, title)

  const asked = useRef(0)
  const open = useCallback((found: Promise<number | null>, none: string | null) => {
    asked.current += 1
    const turn = asked.current
    found.then((id) => {
      if (turn !== asked.current || !alive()) return
      if (id !== null) bench.open(id)
      else if (none) bench.say(none)
    }, (error: unknown) => bench.say(problemText(error, i18n)))
  }, [bench, alive, i18n])

  const load = useLatest((id: number) => source.load(id))
  const first = useLatest(() => source.first())
  useEffect(() => {
    let over = false
    setFailed(null)
    if (openId === null) open(first(), null)
    else if (!bench.isShown(openId)) load(openId).then((got) => !over && bench.show(got.sample, got.assignment), (error: unknown) => !over && setFailed(error))
    return () => {
      over = true
    }
  }, [bench, openId, load, first, open])

  // The neighbours, so that the next one is there before it is asked for.
  const at = sample ? source.film.indexOf(sample.id) : undefined
  useEffect(() => {
    if (at === undefined || bench.dataType !== 'image') return
    source.film.want(Math.max(0, at - 20), at + 20)
    for (const by of [1, 2, -1]) {
      const near = source.film.at(at + by)
      if (near && near.width > 0 && Math.max(near.width, near.height) <= 8192) preloadPicture(contentUrl(bench.path, near), near)
    }
  }, [at, source, bench])

  const go = useLatest((by: 1 | -1) => {
    if (!sample) return
    const index = source.film.indexOf(sample.id)
    const near = index === undefined ? undefined : source.film.at(index + by)
    if (near) {
      asked.current += 1
      return bench.open(near.id)
    }
    open(index === undefined ? source.near(sample, by) : source.at(index + by), t(by === 1 ? 'bench.lastSample' : 'bench.firstSample'))
  })
  const find = useLatest((state: 'unannotated' | 'rejected') => sample && open(source.find(state, sample), t('bench.noneFound')))
  const past = usePast(bench, source)
  const comparing = useLayers(bench)
  const surface = useMemo(() => surfaceOf(bench.type, bench.dataType, grid), [bench, grid])
  const submit = useLatest((nothing: boolean) => task?.submit(nothing))
  const takeBack = useLatest(() => task?.takeBack())
  const decide = useLatest((accept: boolean) => task?.decide(accept))
  const restore = useLatest(() => {
    if (bench.state.past) bench.say(t(bench.restore() ? 'bench.stateRestored' : 'bench.stateSame'))
  })
  const stage = task?.stage ?? null
  const page = useMemo((): Page => ({
    go, find, submit, takeBack, decide, restore, compare: comparing.run, stage, copyPrevious: past.copyPrevious, repeat: past.repeat,
    fit: () => void bench.surface?.command('fit'), zoom: (factor) => void bench.surface?.command(`zoom:${factor}`),
    mayGrid: mayGrid(bench.type, bench.dataType), tools: stage !== null && surface.tools.includes('pan') ? [...surface.tools, 'note'] : surface.tools, surfaceCommands: surface.commands,
  }), [go, find, submit, takeBack, decide, restore, comparing.run, stage, past, bench, surface])
  const offered = useCommands(bench, page, labels, own.keys)

  const shapes = surface.tools.includes('select')
  // What is drawn has a label from the first stroke on; text on pictures may have none.
  const usual = shapes && bench.type !== 'ocr' ? (labels.find((l) => !l.retired)?.name ?? null) : null
  useEffect(() => {
    if (bench.state.label === null && usual !== null) bench.set({ label: usual })
  }, [bench, usual])
  // The way from a change of many samples to what of it was not applied; the journal is read after the sample.
  const [params] = useSearchParams()
  const asksTroubles = params.has('troubles') && sample !== null && troubled
  useEffect(() => {
    if (asksTroubles) bench.set({ panel: 'troubles' })
  }, [asksTroubles, bench])
  const count = source.film.count
  const jump = useLatest((index: number) => open(source.at(index), t('bench.noneFound')))
  return (
    <div className="bench">
      <header className="bench-head">
        <Back url={backUrl} />
        <h1 className="clip-line">{sample?.name ?? title}</h1>
        {at !== undefined && <span className="muted num bench-place">{t(source.film.exact ? 'bench.place' : 'bench.placeMore', { at: n(at + 1), n: n(count) })}</span>}
        {filter}
        <Turn onTurn={go} />
        <Toolbar bench={bench} page={page} commands={offered} own={own.keys} />
        <span className="grow" />
        {task?.head}
      </header>
      <Filmstrip bench={bench} film={source.film} news={source.news} />
      <div className="bench-middle">
        {task?.note}
        {before && <Alert type="info" banner message={t('bench.beforeShown')} action={<Button size="small" onClick={() => bench.set({ before: false })}>{t('bench.showAfter')}</Button>} />}
        {shown && <PastShown bench={bench} past={shown} labels={labels} onRestore={restore} />}
        <div className="bench-surface">
          {failed !== null && <p className="note note-error" role="alert">{problemText(failed, i18n)}</p>}
          {openId === null && !sample && count === 0 && <p className="muted bench-none">{t('bench.noSamples')}</p>}
          <Shown bench={bench} surface={surface} labels={labels} news={source.news} />
        </div>
      </div>
      <aside className="bench-right">
        <LayersPanel bench={bench} comparing={comparing} />
        <LabelsPanel bench={bench} labels={labels} mayAdd={mayAdd} />
        {!grid && <AttributesPanel bench={bench} labels={labels} />}
        {shapes && <ObjectsPanel bench={bench} />}
        {task?.side}
      </aside>
      <footer className="bench-foot"><StateLine bench={bench} /></footer>
      <Panels bench={bench} labels={labels} instructions={instructions} addExample={addExample} count={count} onJump={jump} />
      {task?.dialogs}
    </div>
  )
}

/** The sample itself, on its surface; `news` has it drawn again when the film changes. */
const Shown = memo(function Shown({ bench, surface, labels }: { bench: BenchStore; surface: Surface; labels: readonly LabelDefinition[]; news: unknown }) {
  const sample = useBenchState(bench, (s) => s.sample)
  const document = useBenchState(bench, (s) => s.document)
  const version = useBenchState(bench, (s) => s.version)
  const closed = useBenchState(bench, (s) => s.closed && !s.grid)
  const label = useBenchState(bench, (s) => s.label)
  const tool = useBenchState(bench, (s) => s.tool)
  const selection = useBenchState(bench, (s) => s.selection)
  const view = useBenchState(bench, (s) => s.view)
  const before = useBenchState(bench, (s) => s.before)
  const past = useBenchState(bench, (s) => s.past)
  const assignment = useBenchState(bench, (s) => s.assignment)
  const layers = useBenchState(bench, (s) => s.layers)
  const people = useBenchState(bench, (s) => s.room?.people)
  const others = useMemo(() => (people ?? []).flatMap((p) => (p.x === undefined || p.y === undefined ? [] : [{ client: p.client, name: p.user.name ?? '', color: colorOfClient(p.client), x: p.x, y: p.y, selection: p.selection ?? [] }])), [people])
  const notes = useBenchState(bench, (s) => s.notes)
  const marks = useMemo(() => [
    ...(assignment ? rejectedShapes(assignment) : []),
    ...notes.flatMap((note, i) => (note.done || !placed(note) ? [] : [{ id: `note-${note.id}`, kind: 'note' as const, number: i + 1, note: note.id, text: note.text, ...(note.shape ? { shape: note.shape } : { x: note.x ?? 0, y: note.y ?? 0 }) }])),
  ], [assignment, notes])
  const drawnLayers = useMemo(() => drawn(layers), [layers])
  const setHandle = useCallback((now: SurfaceHandle | null) => {
    bench.surface = now
  }, [bench])
  if (!sample || !document) return null
  return (
    <Suspense fallback={null}>
      <surface.Component bench={bench} sample={sample} document={document} version={version} labels={labels} label={label} tool={tool} selection={selection} readOnly={bench.fixed || closed} others={others} marks={marks} layers={drawnLayers} view={view} before={past?.annotation ?? (before ? (assignment?.for_review?.before ?? nothing) : null)} handle={setHandle} />
    </Suspense>
  )
})

const Back = memo(function Back({ url }: { url: string }) {
  const { t } = useI18n()
  return <Link to={url} className="bench-back" aria-label={t('bench.back')}><Tooltip title={t('bench.back')}><span className="turned"><Icon name="chevron" /></span></Tooltip></Link>
})

const Turn = memo(function Turn({ onTurn }: { onTurn: (by: 1 | -1) => void }) {
  const { t } = useI18n()
  return (
    <span className="row bench-turn">
      <Button size="small" aria-label={t('bench.previous')} title={t('bench.previous')} icon={<span className="turned"><Icon name="chevron" /></span>} onClick={() => onTurn(-1)} />
      <Button size="small" aria-label={t('bench.next')} title={t('bench.next')} icon={<Icon name="chevron" />} onClick={() => onTurn(1)} />
    </span>
  )
})
