import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import type { Field } from '../../api/kinds'
import type { ShowProps } from '../../components/editors'
import { RefLink } from '../../components/FieldValue'
import { absoluteTime, formatBytes, relativeTime } from '../../components/format'
import { useI18n, type I18n } from '../../i18n'
import { FoldButton } from './Folded'
import { useVerbTitle } from './verbs'

/** A value as its field's page would show it: with units, and in words. */
function textOf(value: unknown, field: Field | undefined, { t, w, n }: I18n): string {
  if (value === null || value === undefined) return t('value.none')
  if (typeof value === 'boolean') return t(value ? 'form.yes' : 'form.no')
  if (typeof value === 'number') return field?.unit === 'bytes' ? formatBytes(value) : n(value)
  if (typeof value === 'string') return w(field?.choices?.find((c) => c.value === value)?.title) || value
  return JSON.stringify(value)
}

interface FieldChange {
  old?: unknown
  new?: unknown
}

/** What an audited change did: {"field": {"old": …, "new": …}}. */
export function AuditDetail({ value, short, item }: ShowProps) {
  const i18n = useI18n()
  const { t, w } = i18n
  const { kind: byName } = useApp()
  const fields = byName(String(item?.['kind'] ?? ''))?.fields ?? []
  const fieldOf = (name: string) => fields.find((f) => f.name === name)
  const titleOf = (name: string) => w(fieldOf(name)?.title)
  if (value === null || value === undefined || typeof value !== 'object') return <span className="muted">{value ? textOf(value, undefined, i18n) : t('value.none')}</span>
  const entries = Object.entries(value as Record<string, unknown>)
  if (short) return <span className="clip muted" title={JSON.stringify(value)}>{entries.map(([name]) => titleOf(name) || name).join(', ')}</span>
  return (
    <table className="matrix changes">
      <tbody>
        {entries.map(([name, change]) => {
          const text = (part: unknown) => textOf(part, fieldOf(name), i18n)
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
  return <span>{title(String(value ?? ''), typeof item?.['kind'] === 'string' ? item['kind'] : undefined)}{item && <> <FoldButton item={item} /></>}</span>
}

export function AuditKind({ value }: ShowProps) {
  const { w } = useI18n()
  const { kind } = useApp()
  return <span>{w(kind(String(value ?? ''))?.title) || String(value ?? '')}</span>
}

/** A log says when exactly; how long ago stands in the hover. */
export function AuditAt({ value }: ShowProps) {
  const { language } = useI18n()
  const then = Date.parse(String(value ?? ''))
  return <time className="num nowrap" dateTime={String(value ?? '')} title={relativeTime(then, Date.now(), language) ?? undefined}>{absoluteTime(then, language)}</time>
}

/** Lines without a person are the platform's own. */
export function AuditUser({ value }: ShowProps) {
  const { t } = useI18n()
  const user = value as { id: number; name: string } | null
  return user ? <RefLink kindName="user" value={user} /> : <span className="muted">{t('audit.platform')}</span>
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
