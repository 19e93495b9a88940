// The canvas in its host: layers, frames, and the way from pointers and commands to tools. See README.md.
import type { Canvas, CanvasEvent, CanvasOptions, CanvasView, CommandName, Mark, OpenOptions, Other, ToolName, ViewSettings, Viewport } from './api'
import { runCommand, type Clipboard } from './commands'
import { distance, type Point } from './geometry/point'
import { listenTo } from './input'
import type { LabelStyle, Shape } from './model'
import { createLayers } from './render/layers'
import { createMinimap } from './render/minimap'
import { hasBelow, inks, markPlace, namedShapes, paintAbove, paintBelow, type Above } from './render/overlay'
import { createPicture } from './render/picture'
import { createSheet } from './render/sheet'
import { createStill } from './render/still'
import { fit, kept, shown, toPicture, toScreen, zoomed, type Size } from './render/view'
import { around, createStage, type Stage } from './stage'
import { tools } from './tools/registry'
import type { Pointer, Tool } from './tools/tool'

export type * from './api'

const firstSettings: ViewSettings = {
  brightness: 1, contrast: 1, grid: 0, minimap: false, opacity: 0.2, fills: new Map(), names: true, texts: true, hidden: new Set(), locked: new Set(), snap: true, smooth: false, theme: 'light',
}
/** Tools that show lines through the pointer. */
const crossed: ReadonlySet<ToolName> = new Set<ToolName>(['box', 'box-clicks', 'box-extreme', 'rotated', 'skeleton'])
/** Shared by all canvases of the tab, so that shapes can be carried to another sample. */
const clipboard: Clipboard = { shapes: [] }

/** Makes a canvas that fills its host. */
export function createCanvas(host: HTMLElement, { onEvent }: CanvasOptions = {}): Canvas {
  const root = document.createElement('div')
  root.style.cssText = 'position:absolute;inset:0;overflow:hidden;outline:none;user-select:none;-webkit-user-select:none;contain:strict'
  root.tabIndex = 0
  if (getComputedStyle(host).position === 'static') host.style.position = 'relative'
  const picture = createPicture()
  const still = createStill()
  const layers = createLayers((name) => stage?.style(name))
  const below = createSheet()
  const above = createSheet()
  const minimap = createMinimap((p) => setView({ ...view, x: window_.width / 2 - p.x * view.scale, y: window_.height / 2 - p.y * view.scale }))
  root.append(picture.element, still.element, layers.element, below.canvas, above.canvas, minimap.element)
  host.append(root)

  let settings = firstSettings
  let view: Viewport = { scale: 1, x: 0, y: 0 }
  let window_: Size = { width: root.clientWidth, height: root.clientHeight }
  let size: Size = { width: 0, height: 0 }
  let fitted = true
  let labels: ReadonlyMap<string, LabelStyle> = new Map()
  let labelName: string | undefined
  let stage: Stage | null = null
  let toolName: ToolName = 'select'
  let tool: Tool | null = null
  let held = false
  let hover: string | null = null
  let cursor: Point | null = null
  let people: readonly Other[] = []
  let notes: readonly Mark[] = []
  let names: readonly Shape[] = []
  let namesStale = true
  /** Selected, or in the unfinished stroke. */
  let lifted: ReadonlySet<string> = new Set()
  let frame = 0
  /** Something changed beside the still shapes: in what is in hand, and in what lies below that as well. */
  let dirty = true
  let belowDirty = true
  let toldView: Viewport | null = null
  let toldCursor: Point | null = null

  const emit = (event: CanvasEvent): void => onEvent?.(event)
  const again = (): void => {
    if (frame === 0) frame = requestAnimationFrame(paint)
  }
  const schedule = (all = false): void => {
    dirty = true
    belowDirty ||= all
    again()
  }

  function paint(): void {
    frame = 0
    const ratio = globalThis.devicePixelRatio || 1
    picture.frame(view, window_, ratio)
    const more = still.frame(view, window_, ratio)
    if (stage && namesStale && !more) {
      names = namedShapes(stage, view, window_)
      namesStale = false
      dirty = belowDirty = true
    }
    // While only the still shapes are being painted, what lies over them stays as it is.
    layers.frame(view, window_, ratio)
    if (dirty) paintOver(ratio)
    dirty = false
    minimap.frame(view, window_, size, picture.image, ratio, inks[settings.theme].line)
    if (view !== toldView) emit({ type: 'view', viewport: (toldView = view) })
    if (cursor !== toldCursor) emit({ type: 'cursor', x: cursor?.x ?? null, y: (toldCursor = cursor)?.y ?? null })
    if (more) again()
  }

  function paintOver(ratio: number): void {
    if (!stage) return
    const cross = crossed.has(toolName) && !held && !stage.readOnly ? cursor : null
    const all: Above = { stage, view, window: window_, cross, others: people, marks: notes, names, lifted }
    if (belowDirty) below.paint(window_, ratio, hasBelow(all), (context) => paintBelow(context, all))
    belowDirty = false
    above.paint(window_, ratio, stage.selection.length > 0 || stage.draft !== null || hover !== null || cross !== null || people.length + notes.length > 0, (context) => paintAbove(context, all, hover))
  }

  function setView(next: Viewport): void {
    const safe = kept(next, size, window_)
    if (safe.scale === view.scale && safe.x === view.x && safe.y === view.y) return
    view = safe
    fitted = false
    namesStale = true
    schedule(true)
  }

  function lift(): void {
    if (!stage) return
    const next = new Set([...stage.selection, ...(stage.draft?.shapes ?? []).map((s) => s.id)])
    if (next.size === lifted.size && [...next].every((id) => lifted.has(id))) return
    belowDirty ||= names.some((s) => lifted.has(s.id) !== next.has(s.id))
    still.lift((lifted = next))
  }

  function setTool(name: ToolName): void {
    tool?.cancel()
    const changed = name !== toolName
    toolName = name
    tool = stage ? tools[name](stage) : null
    if (changed) emit({ type: 'tool', tool: name })
    showCursor()
    schedule()
  }

  function showCursor(): void {
    root.style.cursor = held || toolName === 'pan' ? 'grab' : (tool?.cursor(cursor) ?? 'default')
  }

  const target = {
    toPicture: (p: Point) => toPicture(view, p),
    panning: () => held || toolName === 'pan',
    down(p: Pointer, screen: Point) {
      root.focus({ preventScroll: true })
      const mark = stage && notes.find((m) => {
        const at = stage && markPlace(m, stage, view)
        return at && distance(at, screen) <= 10
      })
      if (mark && !tool?.busy()) return emit({ type: 'mark', id: mark.id })
      // The sample's own shapes come first, then those of layers.
      const beyond = toolName === 'select' && stage && !tool?.busy() && !stage.hit(p) ? layers.hit(p, stage.reach(5)) : null
      if (beyond) return emit({ type: 'layer', ...beyond })
      tool?.down?.(p)
    },
    move: (p: Pointer) => tool?.move?.(p),
    up: (p: Pointer) => tool?.up?.(p),
    double: (p: Pointer) => tool?.double?.(p),
    cancel: () => tool?.cancel(),
    pan: (dx: number, dy: number) => setView({ ...view, x: view.x + dx, y: view.y + dy }),
    zoom: (factor: number, at: Point) => setView(zoomed(view, view.scale * factor, at, size, window_)),
    hover(p: Pointer | null) {
      cursor = p && { x: p.x, y: p.y }
      const under = p && stage && !tool?.busy() && (toolName === 'select' || toolName === 'points' || toolName === 'order') ? (stage.hit(p)?.id ?? null) : null
      const moved = under !== hover || crossed.has(toolName)
      if (under !== hover) emit({ type: 'hover', id: (hover = under) })
      showCursor()
      // Others are told where the pointer is; here nothing is painted for that alone.
      if (moved) schedule()
      else again()
    },
    menu(p: Pointer, screen: Point) {
      const shape = stage?.hit(p) ?? null
      if (shape && stage && !stage.selection.includes(shape.id)) stage.select([shape.id])
      emit({ type: 'menu', x: screen.x, y: screen.y, id: shape?.id ?? null })
    },
  }
  const stopInput = listenTo(root, target)

  const watcher = new ResizeObserver(() => {
    const was = window_
    window_ = { width: root.clientWidth, height: root.clientHeight }
    if (was.width === window_.width && was.height === window_.height) return
    if (fitted) canvasView.fit()
    still.reset(stage)
    namesStale = true
    schedule(true)
  })
  watcher.observe(root)

  function open({ picture: next, document: opened, labels: styles, readOnly = false, keepView = false }: OpenOptions): void {
    tool?.cancel()
    stage?.close()
    labels = new Map(styles.map((l) => [l.name, l]))
    size = { width: next.width, height: next.height }
    hover = null
    names = []
    namesStale = true
    lifted = new Set()
    people = []
    notes = []
    layers.set([])
    stage = createStage({
      document: opened,
      readOnly,
      settings: () => settings,
      scale: () => view.scale,
      labels: () => labels,
      labelName: () => labelName,
      emit,
      touched() {
        lift()
        schedule()
      },
      changed(places) {
        if (places) for (const r of places) still.repair(r)
        else still.reset(stage)
        namesStale = true
        if (hover !== null && !opened.shape(hover)) hover = null
        schedule(true)
      },
    })
    still.reset(stage)
    tool = tools[toolName](stage)
    picture.open(next, (state) => {
      emit({ type: 'picture', state })
      schedule()
    }, again)
    if (keepView) setView(view)
    else canvasView.fit()
    emit({ type: 'selection', ids: [] })
    schedule(true)
  }

  function command(name: CommandName): boolean {
    if (!stage) return false
    if (tool?.command?.(name)) return true
    if (name === 'select-below') return selectBelow(stage)
    // A stroke in hand ends before the selection changes under it.
    if (tool?.busy() && name !== 'select-none') tool.cancel()
    return runCommand(name, stage, clipboard)
  }

  /** Goes down through the shapes under the pointer. */
  function selectBelow(on: Stage): boolean {
    if (!cursor) return false
    const above = new Set(on.selection)
    on.select([])
    const next = on.hit(cursor, above) ?? on.hit(cursor)
    if (next) on.select([next.id])
    return next !== null
  }

  function label(name: string, how?: { readonly apply?: boolean }): void {
    labelName = name
    const changed = how?.apply && stage ? stage.selected().filter((s) => s.label !== name && !stage?.isLocked(s)) : []
    if (changed.length > 0) stage?.change(changed.map((shape) => ({ op: 'put', shape: { ...shape, label: name } })))
    schedule()
  }

  const centre = (): Point => ({ x: window_.width / 2, y: window_.height / 2 })
  const canvasView: CanvasView = {
    get viewport() { return view },
    get settings() { return settings },
    fit() {
      setView(fit(size, window_))
      fitted = true
    },
    zoomTo: (scale, at) => setView(zoomed(view, scale, at ?? centre(), size, window_)),
    zoomBy: (factor, at) => setView(zoomed(view, view.scale * factor, at ?? centre(), size, window_)),
    panBy: target.pan,
    show(ids) {
      const r = stage && around(ids.map((id) => stage?.document.shape(id) ?? layers.shape(id)).filter((s) => s !== undefined))
      if (r) setView(shown(view, r, window_))
    },
    toScreen: (x, y) => toScreen(view, { x, y }),
    set(next) {
      const was = settings
      settings = { ...settings, ...next }
      picture.set(settings)
      minimap.show(settings.minimap)
      if (was.opacity !== settings.opacity || was.fills !== settings.fills || was.hidden !== settings.hidden) still.reset(stage)
      namesStale = true
      schedule(true)
    },
  }
  minimap.show(settings.minimap)

  return {
    view: canvasView,
    get selection() { return stage?.selection ?? [] },
    set selection(ids) { stage?.select(ids) },
    open,
    labels(styles) {
      labels = new Map(styles.map((l) => [l.name, l]))
      still.reset(stage)
      schedule(true)
    },
    tool: setTool,
    get currentTool() { return toolName },
    command,
    label,
    holdPan(on) {
      held = on
      showCursor()
      schedule()
    },
    others(list) {
      people = list
      schedule()
    },
    marks(list) {
      notes = list
      schedule()
    },
    layers(list) {
      layers.set(list)
      schedule()
    },
    focus: () => root.focus({ preventScroll: true }),
    close() {
      cancelAnimationFrame(frame)
      stopInput()
      watcher.disconnect()
      stage?.close()
      picture.close()
      minimap.close()
      root.remove()
    },
  }
}
