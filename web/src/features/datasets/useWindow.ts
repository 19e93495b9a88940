import { useCallback, useLayoutEffect, useRef, useState } from 'react'
import { offsetOf, windowOf, type View } from './window'

const gap = 8
const caption = 26
export const spare = 3
/** Pixels in a millisecond, about eight screens in a second: faster than that nobody looks at pictures. */
const fast = 6
/** Milliseconds without fast scrolling after which it is over. */
const rest = 120

export interface Cells {
  columns: number
  width: number
  rowHeight: number
  gap: number
}

export interface Shown {
  first: number
  last: number
  offset: number
  /** Whether one may see what is shown: false while it flies by. */
  calm: boolean
}

/** Pictures stand side by side; what is read or heard has the whole width. */
export type Look = 'cells' | 'rows'
const line = 72

function cellsOf(width: number, look: Look): Cells {
  if (look === 'rows') return { columns: 1, width: width > 0 ? width : 320, rowHeight: line + gap / 2, gap: gap / 2 }
  const columns = Math.max(2, Math.floor((width + gap) / 168))
  const cell = width > 0 ? (width - gap * (columns - 1)) / columns : 160
  return { columns, width: cell, rowHeight: Math.round(Math.min(cell, 220) * 0.8) + caption + gap, gap }
}

/** The rows of a grid of `count` cells that are in sight of the page's scroller. Scrolling changes state only when other rows come
 * into sight, and measures nothing. */
export function useWindow(count: number, as: Look = 'cells') {
  const box = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState({ width: 0, height: 800 })
  const cells = cellsOf(size.width, as)
  const rows = Math.ceil(count / cells.columns)
  const [shown, setShown] = useState<Shown>({ first: 0, last: 0, offset: 0, calm: true })
  const place = useRef({ start: 0, above: 0, offset: 0, at: 0, calm: true, timer: 0 })

  const viewNow = useCallback((): View => {
    const { above, offset } = place.current
    return { above, height: size.height, rows, rowHeight: cells.rowHeight, spare, offset }
  }, [size.height, rows, cells.rowHeight])

  const look = useCallback((at: number) => {
    const scroller = document.getElementById('main')
    const now = place.current
    if (!scroller) return
    const above = scroller.scrollTop - now.start
    const speed = Math.abs(above - now.above) / Math.max(8, at - now.at)
    now.offset = offsetOf({ ...viewNow(), above }, now)
    now.above = above
    now.at = at
    const show = () => {
      const { first, last } = windowOf(viewNow())
      const next = { first, last, offset: now.offset, calm: now.calm }
      setShown((old) => (old.first === first && old.last === last && old.offset === next.offset && old.calm === next.calm ? old : next))
    }
    if (speed > fast) {
      now.calm = false
      window.clearTimeout(now.timer)
      now.timer = window.setTimeout(() => {
        now.calm = true
        show()
      }, rest)
    }
    show()
  }, [viewNow])

  useLayoutEffect(() => {
    const scroller = document.getElementById('main')
    const node = box.current
    if (!scroller || !node) return
    const scrolled = (event: Event) => look(event.timeStamp)
    const measure = () => {
      place.current.start = Math.round(node.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop)
      setSize((old) => (old.width === node.clientWidth && old.height === scroller.clientHeight ? old : { width: node.clientWidth, height: scroller.clientHeight }))
      look(performance.now())
    }
    measure()
    // What stands above the grid moves it: then the page is higher than before.
    const watch = new ResizeObserver(measure)
    for (const watched of [scroller, node, ...scroller.children]) watch.observe(watched)
    scroller.addEventListener('scroll', scrolled, { passive: true })
    const { current } = place
    return () => {
      watch.disconnect()
      scroller.removeEventListener('scroll', scrolled)
      window.clearTimeout(current.timer)
      current.calm = true
    }
  }, [look])

  return { box, cells, shown, viewNow }
}
