import { useSyncExternalStore, type ReactNode } from 'react'
import './aside.css'

const wide = globalThis.window?.matchMedia?.('(min-width: 1180px)')

function watch(listener: () => void): () => void {
  wide?.addEventListener('change', listener)
  return () => wide?.removeEventListener('change', listener)
}

/** The thing itself, and beside it what is known about it; where there is no room that is folded above. */
export function Beside({ label, aside, children }: { label: string; aside: ReactNode; children: ReactNode }) {
  const room = useSyncExternalStore(watch, () => wide?.matches === true)
  return (
    <div className="beside">
      <div>{children}</div>
      {room ? <aside className="aside" aria-label={label}>{aside}</aside> : <details className="aside"><summary>{label}</summary>{aside}</details>}
    </div>
  )
}

export function AsidePart({ title, extra, children }: { title: string; extra?: ReactNode; children: ReactNode }) {
  return <section><div className="section-head"><h2>{title}</h2>{extra}</div>{children}</section>
}
