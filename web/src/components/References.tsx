import { Link } from 'react-router'
import { useApp } from '../app/context'
import { itemUrl } from '../app/links'
import type { Reference } from '../api/client'
import { useI18n } from '../i18n'

/** What refers to an object: per kind how many, and the first few as links. */
export function References({ references }: { references: Reference[] }) {
  const { t, w, n } = useI18n()
  const app = useApp()
  return (
    <ul className="references">
      {references.map((reference) => {
        const kind = app.kind(reference.kind ?? '')
        const examples = reference.examples ?? []
        const rest = (reference.count ?? 0) - examples.length
        return (
          <li key={reference.kind}>
            <span className="muted">{kind ? w(kind.titles) : reference.kind} ({n(reference.count ?? examples.length)}): </span>
            {examples.map((example, i) => {
              const url = kind ? itemUrl(kind, example.id, app.project) : null
              const name = example.name || `#${example.id}`
              return <span key={example.id}>{i > 0 && ', '}{url ? <Link to={url}>{name}</Link> : name}</span>
            })}
            {rest > 0 && <span className="muted"> {t('value.more', { n: rest })}</span>}
          </li>
        )
      })}
    </ul>
  )
}
