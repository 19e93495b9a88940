import { Link } from 'react-router'
import { useApp } from '../app/context'
import { itemUrl } from '../app/links'
import type { Reference } from '../api/client'
import { useI18n } from '../i18n'

export function References({ references }: { references: Reference[] }) {
  const { w } = useI18n()
  const app = useApp()
  return (
    <ul className="references">
      {references.map((reference) => {
        const kind = app.kind(reference.kind)
        const url = kind ? itemUrl(kind, reference.id, reference.project ?? app.project) : null
        const name = reference.name || `#${reference.id}`
        return (
          <li key={`${reference.kind}-${reference.id}`}>
            <span className="muted">{kind ? w(kind.title) : reference.kind}</span> {url ? <Link to={url}>{name}</Link> : name}
          </li>
        )
      })}
    </ul>
  )
}
