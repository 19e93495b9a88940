import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import type { ShowProps } from '../../components/editors'
import { useI18n } from '../../i18n'
import { useVerbTitle } from './verbs'

function text(value: unknown): string {
  if (value === null || value === undefined) return '—'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

interface FieldChange {
  old?: unknown
  new?: unknown
}

/** What an audited change did: {"field": {"old": …, "new": …}}. */
export function AuditDetail({ value, short, item }: ShowProps) {
  const { t, w } = useI18n()
  const { kind: byName } = useApp()
  const fields = byName(String(item?.['kind'] ?? ''))?.fields ?? []
  const titleOf = (name: string) => w(fields.find((f) => f.name === name)?.title)
  if (value === null || value === undefined || typeof value !== 'object') return <span className="muted">{value ? text(value) : t('value.none')}</span>
  const entries = Object.entries(value as Record<string, unknown>)
  if (short) return <span className="clip muted" title={JSON.stringify(value)}>{entries.map(([name]) => titleOf(name) || name).join(', ')}</span>
  return (
    <table className="matrix changes">
      <tbody>
        {entries.map(([name, change]) => {
          const both = change !== null && typeof change === 'object' ? (change as FieldChange) : { new: change }
          return (
            <tr key={name}>
              <th scope="row">{titleOf(name) || <code>{name}</code>}</th>
              <td>{'old' in both && <del>{text(both.old)}</del>}{'old' in both && 'new' in both && ' → '}{'new' in both && <ins>{text(both.new)}</ins>}{!('old' in both) && !('new' in both) && text(change)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

export function AuditVerb({ value, item }: ShowProps) {
  const title = useVerbTitle()
  return <span>{title(String(value ?? ''), typeof item?.['kind'] === 'string' ? item['kind'] : undefined)}</span>
}

export function AuditKind({ value }: ShowProps) {
  const { w } = useI18n()
  const { kind } = useApp()
  return <span>{w(kind(String(value ?? ''))?.title) || String(value ?? '')}</span>
}

/** The object's name, linked to its page while it may still be there. */
export function AuditName({ value, item }: ShowProps) {
  const { kind } = useApp()
  const id = item?.['object']
  const of = kind(String(item?.['kind'] ?? ''))
  const url = of && typeof id === 'number' && item?.['verb'] !== 'delete' ? itemUrl(of, id, item?.project ?? null) : null
  const name = typeof value === 'string' && value !== '' ? value : typeof id === 'number' && id > 0 ? `#${id}` : '—'
  return url ? <Link to={url}>{name}</Link> : <span>{name}</span>
}
