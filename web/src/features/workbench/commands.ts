// Everything that can be done in the workbench, once: the toolbar, menus, keys, the palette, the help and the page "Keys" of
// docs/labelling.md follow from this list. Keys are what people have at first; each may change their own (keys.ts).
import type { CommandName, ToolName } from '../../canvas'
import type { IconName } from '../../components/Icon'
import type { Key } from '../../i18n'
import type { BenchStore } from './bench'
import type { CompareStep } from './useLayers'

export type Group = 'go' | 'work' | 'tool' | 'shape' | 'view' | 'media'

/** What commands need of the page besides the bench. */
export interface Page {
  go(by: 1 | -1): void
  find(state: 'unannotated' | 'rejected'): void
  copyPrevious(): void
  repeat(): void
  /** Makes the earlier state that is shown the one that is. */
  restore(): void
  submit(nothing: boolean): void
  takeBack(): void
  decide(accept: boolean): void
  /** Of the layers under review. */
  compare(step: CompareStep): void
  fit(): void
  zoom(factor: number): void
  /** Of a task: its stage; null without a task. */
  stage: 'label' | 'review' | null
  mayGrid: boolean
  tools: readonly string[]
  surfaceCommands: readonly string[]
}

export interface Context {
  bench: BenchStore
  page: Page
}

export interface Command {
  id: string
  title: Key
  key: string
  group: Group
  icon?: IconName
  /** Offered at all. */
  when?: (c: Context) => boolean
  run: (c: Context) => void
}

const tool = (name: ToolName, key: string): Command => ({
  id: `tool.${name}`, title: `bench.tool.${name}` as Key, key, group: 'tool', when: ({ page }) => page.tools.includes(name), run: ({ bench }) => bench.set({ tool: name }),
})
const shape = (name: CommandName, key: string): Command => ({
  id: `shape.${name}`, title: `bench.shape.${name}` as Key, key, group: 'shape', when: ({ page }) => page.surfaceCommands.includes(name), run: ({ bench }) => void bench.surface?.command(name),
})
const media = (name: string, key: string): Command => ({
  id: `media.${name}`, title: `bench.media.${name}` as Key, key, group: 'media', when: ({ page }) => page.surfaceCommands.includes(name), run: ({ bench }) => void bench.surface?.command(name),
})
const compare = (step: CompareStep, title: Key, key: string): Command => ({ id: `layers.${step}`, title, key, group: 'work', when: reviews, run: ({ page }) => page.compare(step) })
/** Opens a panel, or closes it. What it showed on the surface goes with it. */
const panel = (name: 'instructions' | 'examples' | 'history') => ({ bench }: Context) => bench.set({ panel: bench.state.panel === name ? null : name, past: null })
const writes = ({ bench }: Context) => !bench.fixed
const labels = ({ page }: Context) => page.stage === 'label'
const reviews = ({ page }: Context) => page.stage === 'review'
const pictures = ({ bench }: Context) => bench.dataType === 'image'

function toggle(bench: BenchStore, set: 'hidden' | 'locked'): void {
  const { selection, view, label } = bench.state
  const names = selection.length > 0 ? selection : label ? [`label:${label}`] : []
  const next = new Set(view[set])
  for (const name of names) if (!next.delete(name)) next.add(name)
  bench.set({ view: { ...bench.state.view, [set]: next } })
}

function turn(bench: BenchStore, name: 'grid' | 'minimap' | 'names', on: number | boolean, off: number | boolean): void {
  bench.set({ view: { ...bench.state.view, [name]: bench.state.view[name] === on ? off : on } })
}

function opacity(bench: BenchStore, by: number): void {
  const now = bench.state.view.opacity ?? 0.2
  bench.set({ view: { ...bench.state.view, opacity: Math.max(0, Math.min(1, Math.round((now + by) * 10) / 10)) } })
}

export const commands: readonly Command[] = [
  { id: 'next', title: 'bench.next', key: 'd', group: 'go', icon: 'chevron', run: ({ page }) => page.go(1) },
  { id: 'previous', title: 'bench.previous', key: 'a', group: 'go', run: ({ page }) => page.go(-1) },
  { id: 'next-unlabelled', title: 'bench.nextUnlabelled', key: 'n', group: 'go', run: ({ page }) => page.find('unannotated') },
  { id: 'next-rejected', title: 'bench.nextRejected', key: 'Shift+n', group: 'go', run: ({ page }) => page.find('rejected') },
  { id: 'jump', title: 'bench.jump', key: 'j', group: 'go', run: ({ bench }) => bench.set({ panel: 'jump' }) },
  { id: 'many', title: 'bench.many', key: 'Shift+g', group: 'go', icon: 'cards', when: ({ page }) => page.mayGrid, run: ({ bench }) => bench.set({ grid: !bench.state.grid }) },

  { id: 'undo', title: 'bench.undo', key: 'Ctrl+z', group: 'work', when: writes, run: ({ bench }) => bench.undo() },
  { id: 'redo', title: 'bench.redo', key: 'Ctrl+Shift+z', group: 'work', when: writes, run: ({ bench }) => bench.redo() },
  { id: 'copy-previous', title: 'bench.copyPrevious', key: 'Shift+c', group: 'work', when: writes, run: ({ page }) => page.copyPrevious() },
  { id: 'repeat', title: 'bench.repeat', key: 'Shift+r', group: 'work', when: writes, run: ({ page }) => page.repeat() },
  { id: 'restore', title: 'bench.restoreState', key: 'Ctrl+Shift+y', group: 'work', when: writes, run: ({ page }) => page.restore() },
  { id: 'submit', title: 'bench.submit', key: 's', group: 'work', icon: 'check', when: labels, run: ({ page }) => page.submit(false) },
  { id: 'nothing', title: 'bench.nothing', key: 'm', group: 'work', when: labels, run: ({ page }) => page.submit(true) },
  { id: 'take-back', title: 'bench.takeBack', key: 'Shift+z', group: 'work', when: labels, run: ({ page }) => page.takeBack() },
  { id: 'skip', title: 'bench.skip', key: 'w', group: 'work', when: labels, run: ({ bench }) => bench.set({ panel: 'skip' }) },
  { id: 'ask', title: 'bench.ask', key: 'Shift+a', group: 'work', when: ({ page }) => page.stage !== null, run: ({ bench }) => bench.set({ panel: 'ask', askAt: null }) },
  { id: 'accept', title: 'bench.accept', key: 'y', group: 'work', icon: 'check', when: reviews, run: ({ page }) => page.decide(true) },
  { id: 'reject', title: 'bench.reject', key: 'u', group: 'work', icon: 'close', when: reviews, run: ({ page }) => page.decide(false) },
  { id: 'before', title: 'bench.before', key: 'z', group: 'work', when: reviews, run: ({ bench }) => bench.set({ before: !bench.state.before }) },
  compare('next', 'bench.nextDifference', ';'), compare('previous', 'bench.previousDifference', ':'), compare('take', 'bench.takePicked', 'Shift+y'),
  compare('take-layer', 'bench.takeLayer', 'Shift+j'), compare('turn', 'bench.layersInTurn', 'Shift+h'),

  tool('select', 'v'), tool('box', 'b'), tool('box-clicks', 'Shift+b'), tool('box-extreme', 'x'), tool('rotated', 'r'),
  tool('polygon', 'p'), tool('freehand', 'f'), tool('points', 'e'), tool('hole', 'o'), tool('cut', 'c'),
  tool('keypoints', 'k'), tool('skeleton', 'Shift+k'), tool('order', 'q'), tool('pan', 'h'), tool('note', "'"),

  shape('delete', 'Delete'), shape('finish', 'Enter'), shape('cancel', 'Escape'), shape('remove-point', 'Backspace'),
  shape('copy', 'Ctrl+c'), shape('paste', 'Ctrl+v'), shape('duplicate', 'Ctrl+d'), shape('select-all', 'Ctrl+a'),
  shape('select-next', 'Tab'), shape('select-previous', 'Shift+Tab'), shape('select-below', 'Shift+w'),
  shape('nudge-left', 'ArrowLeft'), shape('nudge-right', 'ArrowRight'), shape('nudge-up', 'ArrowUp'), shape('nudge-down', 'ArrowDown'),
  shape('nudge-left-far', 'Shift+ArrowLeft'), shape('nudge-right-far', 'Shift+ArrowRight'), shape('nudge-up-far', 'Shift+ArrowUp'), shape('nudge-down-far', 'Shift+ArrowDown'),
  shape('rotate-left', 'Shift+q'), shape('rotate-right', 'Shift+e'),
  shape('merge', 'Shift+m'), shape('simplify', 'Shift+s'), shape('to-front', ']'), shape('to-back', '['), shape('mirror', 'Shift+f'),
  shape('toggle-visible', 'Shift+v'), shape('skip-point', 'Shift+d'), shape('toggle-occluded', 'Shift+o'), shape('toggle-truncated', 'Shift+t'), shape('order-lines', 'Shift+l'),

  { id: 'fit', title: 'bench.fit', key: 'g', group: 'view', when: pictures, run: ({ page }) => page.fit() },
  { id: 'zoom-in', title: 'bench.zoomIn', key: '=', group: 'view', when: pictures, run: ({ page }) => page.zoom(1.25) },
  { id: 'zoom-out', title: 'bench.zoomOut', key: '-', group: 'view', when: pictures, run: ({ page }) => page.zoom(0.8) },
  { id: 'hide', title: 'bench.hide', key: 'i', group: 'view', when: pictures, run: ({ bench }) => toggle(bench, 'hidden') },
  { id: 'show-all', title: 'bench.showAll', key: 'Shift+u', group: 'view', when: pictures, run: ({ bench }) => bench.set({ view: { ...bench.state.view, hidden: new Set(), locked: new Set() } }) },
  { id: 'lock', title: 'bench.lock', key: 'l', group: 'view', when: pictures, run: ({ bench }) => toggle(bench, 'locked') },
  { id: 'opacity-less', title: 'bench.opacityLess', key: ',', group: 'view', when: pictures, run: ({ bench }) => opacity(bench, -0.1) },
  { id: 'opacity-more', title: 'bench.opacityMore', key: '.', group: 'view', when: pictures, run: ({ bench }) => opacity(bench, 0.1) },
  { id: 'lines', title: 'bench.lines', key: '#', group: 'view', when: pictures, run: ({ bench }) => turn(bench, 'grid', 50, 0) },
  { id: 'minimap', title: 'bench.minimap', key: 'Shift+p', group: 'view', when: pictures, run: ({ bench }) => turn(bench, 'minimap', true, false) },
  { id: 'names', title: 'bench.names', key: 't', group: 'view', when: pictures, run: ({ bench }) => turn(bench, 'names', false, true) },
  { id: 'instructions', title: 'bench.instructions', key: 'Shift+i', group: 'view', run: panel('instructions') },
  { id: 'examples', title: 'bench.examples', key: 'Shift+x', group: 'view', run: panel('examples') },
  { id: 'history', title: 'bench.history', key: 'Ctrl+Shift+h', group: 'view', run: panel('history') },
  { id: 'keys', title: 'bench.keys', key: '', group: 'view', icon: 'keyboard', run: ({ bench }) => bench.set({ panel: 'keys' }) },

  media('play', ' '), media('restart', 'Home'), media('back', 'ArrowLeft'), media('forward', 'ArrowRight'), media('slower', '<'), media('faster', '>'), media('loop', 'Shift+l'),
  media('find', '/'), media('find-next', 'Enter'), media('find-previous', 'Shift+Enter'), media('page-next', 'PageDown'), media('page-previous', 'PageUp'),
]

export function commandOf(id: string): Command | undefined {
  return commands.find((c) => c.id === id)
}

/** Keys of labels go first, then those that people changed, then the list's own. */
export function keyOf(command: Command, own: Readonly<Record<string, string>>): string {
  return own[command.id] ?? command.key
}

/** Two commands that are offered together and have the same key. */
export function clashes(own: Readonly<Record<string, string>>): [Command, Command][] {
  const found: [Command, Command][] = []
  commands.forEach((a, i) => {
    for (const b of commands.slice(i + 1)) {
      const apart = (a.group === 'media') !== (b.group === 'media') && (a.group === 'shape' || b.group === 'shape')
      if (keyOf(a, own) !== '' && keyOf(a, own) === keyOf(b, own) && !apart) found.push([a, b])
    }
  })
  return found
}
