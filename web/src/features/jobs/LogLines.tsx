import { useCallback, useEffect, useLayoutEffect, useRef, useState, type CSSProperties } from 'react'
import { useI18n } from '../../i18n'
import { ansiPieces, type Look } from './ansi'
import type { LogLine, LogStore } from './logStore'

const rowHeight = 18
const spare = 12
// Browsers stop placing things some 30 million pixels down.
const tallest = 12_000_000
const longest = 20_000

interface Props {
  store: LogStore
  version: number
  times: boolean
  follow: boolean
  onFollow: (follow: boolean) => void
  jump: { line: number } | null
  found: string
  hit: number | undefined
}

function styleOf(look: Look): CSSProperties | undefined {
  if (Object.keys(look).length === 0) return undefined
  const color = look.inverse ? (look.background ?? 'var(--sunken)') : look.color
  const background = look.inverse ? (look.color ?? 'var(--text)') : look.background
  return { color, background, fontWeight: look.bold ? 600 : undefined, fontStyle: look.italic ? 'italic' : undefined, textDecoration: look.underline ? 'underline' : undefined, opacity: look.faint ? 0.7 : undefined }
}

/** A text with what was looked for marked in it. */
function Marked({ text, found }: { text: string; found: string }) {
  if (found === '') return text
  const parts = []
  const lower = text.toLowerCase()
  const wanted = found.toLowerCase()
  let from = 0
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    if (at > from) parts.push(text.slice(from, at))
    parts.push(<mark key={at}>{text.slice(at, at + wanted.length)}</mark>)
    from = at + wanted.length
  }
  parts.push(text.slice(from))
  return parts
}

function Line({ n, line, times, found, hit }: { n: number; line: LogLine | undefined; times: boolean; found: string; hit: boolean }) {
  const text = line && line.text.length > longest ? `${line.text.slice(0, longest)}…` : line?.text
  return (
    <div className={`log-line${hit ? ' hit' : ''}${line ? ` log-${line.stream}` : ''}`} data-line={n + 1}>
      <span className="log-number" aria-hidden="true">{n + 1}</span>
      {times && <time className="log-time">{line?.at.slice(11, 23)}</time>}
      <span>{text !== undefined && ansiPieces(text).map((piece, i) => <span key={i} style={styleOf(piece.look)}><Marked text={piece.text} found={found} /></span>)}</span>
    </div>
  )
}

/** The lines in sight of a log of any length. All rows have one height; a log that is taller than a page can be is
 * scrolled by share, and the wheel still moves it line by line. */
export function LogLines({ store, times, follow, onFollow, jump, found, hit }: Props) {
  const { t } = useI18n()
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 400 })
  // Lines before the first that is kept have no rows.
  const base = store.first
  const total = store.total - base
  const full = total * rowHeight
  const height = Math.min(full, tallest)
  const rows = Math.max(1, Math.floor(view.height / rowHeight))
  const scaled = full > tallest
  // Where the scroll bar stands when `line` is the first in sight, and back.
  const topOf = useCallback((line: number) => (scaled ? (line / Math.max(1, total - rows)) * (height - view.height) : line * rowHeight), [scaled, total, rows, height, view.height])
  const first = Math.max(0, Math.min(Math.max(0, total - rows), scaled ? (view.top / Math.max(1, height - view.height)) * (total - rows) : view.top / rowHeight))
  const from = Math.max(0, Math.floor(first) - spare)
  const to = Math.min(total, Math.ceil(first) + rows + spare)

  const set = useCallback((top: number) => {
    if (box.current) box.current.scrollTop = top
  }, [])
  useLayoutEffect(() => {
    const node = box.current
    if (!node) return
    const look = () => setView((old) => (old.height === node.clientHeight ? old : { ...old, height: node.clientHeight }))
    look()
    const observer = new ResizeObserver(look)
    observer.observe(node)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (follow) set(height)
  }, [follow, height, total, set])
  useLayoutEffect(() => {
    if (jump) set(topOf(Math.max(0, jump.line - base - Math.floor(rows / 2))))
    // Only when somebody asks for a place.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [jump])
  useEffect(() => {
    const node = box.current
    if (!node || !scaled) return
    const wheel = (event: WheelEvent) => {
      event.preventDefault()
      node.scrollTop += (event.deltaY / rowHeight) * ((height - view.height) / Math.max(1, total - rows))
    }
    node.addEventListener('wheel', wheel, { passive: false })
    return () => node.removeEventListener('wheel', wheel)
  }, [scaled, height, view.height, total, rows])

  const onScroll = () => {
    const node = box.current
    if (!node) return
    const top = node.scrollTop
    // Scrolled up by hand: stay there; scrolled to the end of a live log: go on with it.
    const atEnd = top + node.clientHeight >= node.scrollHeight - rowHeight
    if (follow && top < view.top - 2 && !atEnd) onFollow(false)
    else if (!follow && atEnd && top > view.top && !store.closed) onFollow(true)
    setView((old) => ({ ...old, top }))
  }
  const place = scaled ? view.top - (first - Math.floor(first)) * rowHeight - (Math.floor(first) - from) * rowHeight : from * rowHeight
  const visible = []
  for (let i = from; i < to; i += 1) visible.push(<Line key={i + base} n={i + base} line={store.line(i + base)} times={times} found={found} hit={i + base === hit} />)
  return (
    <div ref={box} className="log-box" tabIndex={0} role="log" aria-live="off" aria-label={t('job.log')} onScroll={onScroll} style={{ '--digits': String(store.total).length } as CSSProperties}>
      <div className="log-all" style={{ height }}>
        <div className="log-rows" style={{ transform: `translateY(${Math.max(0, place)}px)` }}>{visible}</div>
      </div>
      {total === 0 && store.caughtUp && <p className="muted log-empty">{t('log.empty')}</p>}
    </div>
  )
}
