import { createElement, type ReactNode } from 'react'
import './markdown.css'
import { markdown, type Block, type Inline } from './markdown'

/** What people wrote, as elements: never as HTML. */
export function Markdown({ text }: { text: string }) {
  return <div className="markdown">{markdown(text).map(block)}</div>
}

function block(b: Block, i: number): ReactNode {
  switch (b.type) {
    // Under the page's own headings.
    case 'heading': return createElement(`h${Math.min(6, b.level + 2)}`, { key: i }, b.inside.map(part))
    case 'paragraph': return <p key={i} className="pre">{b.inside.map(part)}</p>
    case 'quote': return <blockquote key={i} className="pre">{b.inside.map(part)}</blockquote>
    case 'code': return <pre key={i}>{b.text}</pre>
    case 'line': return <hr key={i} />
    case 'list': return createElement(b.ordered ? 'ol' : 'ul', { key: i }, b.items.map((item, k) => <li key={k}>{item.map(part)}</li>))
  }
}

function part(p: Inline, i: number): ReactNode {
  switch (p.type) {
    case 'text': return p.text
    case 'code': return <code key={i}>{p.text}</code>
    case 'strong': return <strong key={i}>{p.inside.map(part)}</strong>
    case 'em': return <em key={i}>{p.inside.map(part)}</em>
    case 'link': return <a key={i} href={p.url} target="_blank" rel="noopener noreferrer">{p.inside.map(part)}</a>
    case 'picture': return <img key={i} src={p.url} alt={p.alt} loading="lazy" referrerPolicy="no-referrer" />
  }
}
