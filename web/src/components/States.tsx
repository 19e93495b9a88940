import { Button } from 'antd'
import type { ReactNode } from 'react'
import { Problem } from '../api/client'
import { useI18n } from '../i18n'
import { problemText, problemTitle } from './problem'

export function Empty(props: { title: string; text?: string; children?: ReactNode }) {
  return (
    <div className="empty" role="status">
      <svg width="56" height="36" viewBox="0 0 56 36" aria-hidden="true">
        <path d="M14 6h28a3 3 0 0 1 2.8 2l7 19a3 3 0 0 1-2.800 4H7a3 3 0 0 1-2.800-4l7-19A3 3 0 0 1 14 6z" fill="none" stroke="currentColor" strokeWidth="1.500" />
        <path d="M15.500 11h25l2.600 7h-30.200z" fill="currentColor" opacity=".18" />
      </svg>
      <h2>{props.title}</h2>
      {props.text && <p>{props.text}</p>}
      {props.children}
    </div>
  )
}

export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const i18n = useI18n()
  const text = problemText(error, i18n)
  const title = problemTitle(error, i18n)
  return (
    <div className="error-state" role="alert">
      <h2>{title}</h2>
      {text !== title && <p>{error instanceof Problem && error.permission ? text : text.replace(`${title}: `, '')}</p>}
      {onRetry && <Button onClick={onRetry}>{i18n.t('error.retry')}</Button>}
    </div>
  )
}

/** What comes: lines, the rows of a table, a page with its heading and tabs, pictures, fields. */
type Shape = 'lines' | 'rows' | 'page' | 'pictures' | 'fields'

/** Stands where something is on its way, in its shape and about its size, so that little moves when it comes. It is seen
 * only when that takes longer than a moment (base.css). */
export function Skeleton({ as = 'lines', n = as === 'page' ? 9 : 3 }: { as?: Shape; n?: number }) {
  return <div className={`skeleton skeleton-${as}`} aria-busy="true">{Array.from({ length: n }, (_, i) => <div key={i} />)}</div>
}

/** Before it is known who is there and what there is. */
export function FirstPaint() {
  return <div className="shell first-paint" aria-busy="true"><div className="top" /><div className="side" /><div className="main"><Skeleton as="page" /></div></div>
}
