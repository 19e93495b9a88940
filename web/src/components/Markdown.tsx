import { createElement, useMemo, type ReactNode } from 'react'
import { Link } from 'react-router'
import './markdown.css'
import { anchors, markdown, type Block, type Inline, type Resolve } from './markdown'

interface Shape {
  /** Where links lead; those that come to stay in the program open in its own tab. */
  resolve?: Resolve
  /** Lines end where there is room, as in a README; else where the writer ended them. */
  flow?: boolean
  /** A text of many pages: its headings begin with h1 and have anchors, and its lines flow. */
  manual?: boolean
  code?: (text: string, language: string | undefined) => ReactNode
  /** Of a manual: what stands beside the heading of an anchor. */
  beside?: (anchor: string) => ReactNode
}

/** What people wrote, as elements: never as HTML. */
export function Markdown({ text, ...shape }: { text: string } & Shape) {
  const blocks = useMemo(() => markdown(text, shape.resolve), [text, shape.resolve])
  const anchor = anchors()
  return <div className="markdown">{blocks.map((one, i) => block(one, i, shape, anchor))}</div>
}

function block(b: Block, i: number, { flow, manual, code, beside }: Shape, anchor: ReturnType<typeof anchors>): ReactNode {
  const lines = flow || manual ? undefined : 'pre'
  switch (b.type) {
    // Under the page's own headings.
    case 'heading': {
      const id = anchor(b.inside)
      return createElement(`h${Math.min(6, manual ? b.level : b.level + 2)}`, { key: i, ...(manual && { id, tabIndex: -1 }) }, b.inside.map(part), manual && beside?.(id))
    }
    case 'paragraph': return <p key={i} className={lines}>{b.inside.map(part)}</p>
    case 'quote': return <blockquote key={i} className={lines}>{b.inside.map(part)}</blockquote>
    case 'code': return code ? <div key={i}>{code(b.text, b.language)}</div> : <pre key={i}>{b.text}</pre>
    case 'line': return <hr key={i} />
    case 'list': return createElement(b.ordered ? 'ol' : 'ul', { key: i }, b.items.map((item, k) => <li key={k}>{item.map(part)}</li>))
    case 'table': return (
      <table key={i}>
        {b.head.some((cell) => cell.length > 0) && <thead><tr>{b.head.map((cell, k) => (cell.length > 0 ? <th key={k}>{cell.map(part)}</th> : <td key={k} />))}</tr></thead>}
        <tbody>{b.rows.map((row, k) => <tr key={k}>{row.map((cell, c) => <td key={c}>{cell.map(part)}</td>)}</tr>)}</tbody>
      </table>
    )
  }
}

function part(p: Inline, i: number): ReactNode {
  switch (p.type) {
    case 'text': return p.text
    case 'code': return <code key={i}>{p.text}</code>
    case 'strong': return <strong key={i}>{p.inside.map(part)}</strong>
    case 'em': return <em key={i}>{p.inside.map(part)}</em>
    case 'link': return link(p.url, p.inside.map(part), i)
    case 'picture': return <img key={i} src={p.url} alt={p.alt} loading="lazy" referrerPolicy="no-referrer" />
  }
}

function link(url: string, words: ReactNode, i: number): ReactNode {
  if (url === '') return <span key={i}>{words}</span>
  if (/^(\/docs\/|#)/.test(url)) return <Link key={i} to={url}>{words}</Link>
  return <a key={i} href={url} target="_blank" rel="noopener noreferrer">{words}</a>
}
