import { useEffect, useImperativeHandle, useRef, useSyncExternalStore } from 'react'
import { theme } from '../../../app/prefs'
import { apiUrl } from '../../../api/client'
import { createCanvas, createDocument, type Canvas, type CanvasEvent, type CommandName, type Picture, type ToolName } from '../../../canvas'
import { useLatest } from '../../../components/hooks'
import { useI18n, type Key } from '../../../i18n'
import { contentUrl } from '../../datasets/samples'
import { stylesOf } from '../labels'
import { takePicture } from '../preload'
import type { Bench, Sample, SurfaceProps } from '../surface'

/** Pictures larger than this, in pixels of one side, come in tiles. */
const largest = 8192

function pictureOf(bench: Bench, sample: Sample): Picture {
  const { width, height } = sample
  if (width > largest || height > largest) return { width, height, tiles: (level, x, y) => apiUrl(`${bench.path}/samples/${sample.id}/tile`, { level, x, y, v: sample.digest.slice(0, 12) }) }
  const url = contentUrl(bench.path, sample)
  const file = takePicture(url)
  return { url, width, height, ...(file && { file }) }
}

/** Brings a point of the picture into the middle. */
function centre(canvas: Canvas | null, host: HTMLElement | null, x: number, y: number): void {
  if (!canvas || !host) return
  const at = canvas.view.toScreen(x, y)
  canvas.view.panBy(host.clientWidth / 2 - at.x, host.clientHeight / 2 - at.y)
}

/** One picture with its shapes, drawn by web/src/canvas. */
export function PictureSurface({ bench, sample, document, labels, label, tool, selection, readOnly, others, marks, layers, view, before, handle }: SurfaceProps) {
  const { t } = useI18n()
  const host = useRef<HTMLDivElement>(null)
  const canvas = useRef<Canvas | null>(null)
  const joint = useRef(false)
  const dark = useSyncExternalStore(theme.subscribe, theme.dark)
  const onEvent = useLatest((event: CanvasEvent) => {
    switch (event.type) {
      case 'selection': return bench.tell({ type: 'selection', ids: event.ids })
      case 'tool': return bench.tell({ type: 'tool', tool: event.tool })
      case 'cursor': return bench.tell({ type: 'cursor', x: event.x, y: event.y })
      // What is written there is typed at once: the panel shows its field after the next paint.
      case 'made': return bench.type === 'ocr' ? requestAnimationFrame(() => requestAnimationFrame(() => window.document.getElementById('bench-shape-text')?.focus())) : undefined
      case 'activate': return bench.tell({ type: 'activate', id: event.id })
      case 'mark': {
        const mark = marks.find((m) => m.id === event.id)
        if (mark?.note !== undefined) bench.tell({ type: 'note', id: mark.note })
        return mark && bench.tell({ type: 'say', text: mark.text })
      }
      case 'place': return bench.tell({ type: 'place', x: event.x, y: event.y })
      case 'layer': return bench.tell({ type: 'layer', layer: event.layer, shape: event.shape })
      case 'refused': return bench.tell({ type: 'say', text: t(`bench.refused.${event.reason}` as Key) })
      case 'mended': return bench.tell({ type: 'say', text: t(event.how === 'clipped' ? 'bench.mended.clipped' : 'bench.mended.crossing') })
      // Which joint is next, and nothing once the skeleton is whole; what else was said stays.
      case 'keypoint': {
        const told = joint.current || event.name !== null
        joint.current = event.name !== null
        return told ? bench.tell({ type: 'say', text: event.name === null ? '' : t('bench.nextJoint', { name: event.name }) }) : undefined
      }
      case 'picture':
        if (event.state === 'failed') bench.tell({ type: 'say', text: t('bench.pictureFailed') })
        return event.state === 'shown' ? bench.tell({ type: 'shown', sample: sample.id }) : undefined
      default: return undefined
    }
  })
  useEffect(() => {
    const node = host.current
    if (!node) return
    const made = createCanvas(node, { onEvent })
    canvas.current = made
    return () => {
      canvas.current = null
      made.close()
    }
  }, [onEvent])
  const shown = useRef<{ labels: typeof labels; document: typeof document | null }>({ labels, document: null })
  useEffect(() => {
    const past = before && createDocument({ annotation: before, type: bench.type, width: sample.width, height: sample.height })
    canvas.current?.open({ picture: pictureOf(bench, sample), document: past ?? document, labels: stylesOf(shown.current.labels), readOnly: readOnly || past !== null, keepView: shown.current.document === document })
    shown.current.document = document
  }, [bench, sample, document, readOnly, before])
  useEffect(() => {
    shown.current.labels = labels
    canvas.current?.labels(stylesOf(labels))
  }, [labels])
  useEffect(() => {
    if (canvas.current && canvas.current.currentTool !== tool) canvas.current.tool(tool as ToolName)
  }, [tool, document])
  useEffect(() => {
    if (label !== null) canvas.current?.label(label)
  }, [label, document])
  useEffect(() => {
    const now = canvas.current
    if (now && (now.selection.length !== selection.length || selection.some((id, i) => now.selection[i] !== id))) now.selection = selection
  }, [selection])
  useEffect(() => canvas.current?.others(others), [others])
  useEffect(() => canvas.current?.marks(marks), [marks, document])
  useEffect(() => canvas.current?.layers(before ? [] : layers), [layers, document, before])
  useEffect(() => canvas.current?.view.set({ ...view, theme: dark ? 'dark' : 'light' }), [view, dark])
  useEffect(() => {
    const hold = (event: KeyboardEvent) => {
      const free = globalThis.document.activeElement === globalThis.document.body || host.current?.contains(globalThis.document.activeElement)
      if (event.key !== ' ' || !free) return
      event.preventDefault()
      canvas.current?.holdPan(event.type === 'keydown')
    }
    window.addEventListener('keydown', hold)
    window.addEventListener('keyup', hold)
    return () => {
      window.removeEventListener('keydown', hold)
      window.removeEventListener('keyup', hold)
    }
  }, [])
  useImperativeHandle(handle, () => ({
    command: (name) => {
      if (name === 'undo' || name === 'redo') return false
      if (name === 'fit') return canvas.current?.view.fit(), true
      const zoom = /^zoom:(.+)$/.exec(name)
      if (zoom) return canvas.current?.view.zoomBy(Number(zoom[1])), true
      const show = /^show:(.+)$/.exec(name)
      if (show) return canvas.current?.view.show([show[1] ?? '']), true
      const at = /^at:([\d.]+),([\d.]+)$/.exec(name)
      if (at) return centre(canvas.current, host.current, Number(at[1]), Number(at[2])), true
      return canvas.current?.command(name as CommandName) ?? false
    },
    label: () => false,
    focus: () => canvas.current?.focus(),
  }), [])
  return <div ref={host} className="bench-canvas" role="application" aria-label={sample.name} />
}
