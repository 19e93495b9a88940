import { Suspense } from 'react'
import { Link } from 'react-router'
import { useApp } from '../app/context'
import { childUrl, itemUrl, versionUrl } from '../app/links'
import type { Schema } from '../api/client'
import type { Field, Item, Ref } from '../api/kinds'
import { offers } from '../api/session'
import { useI18n } from '../i18n'
import { editorOf } from './editors'
import { formatBytes, formatDuration } from './format'
import { Marked } from './Marked'
import { isRef } from './names'
import { Time } from './Time'

export function RefLink({ kindName, value, project }: { kindName: string; value: Schema<'Reference'>; project?: Ref | null }) {
  const app = useApp()
  const kind = app.kind(kindName)
  const place = project ?? app.project
  const parent = kind?.parent && value.of ? app.kind(kind.parent) : undefined
  const number = parent && /^v(\d+)$/.exec(value.name ?? '')?.[1]
  const page = kind && value.of && parent ? (number ? versionUrl(parent, value.of.id, Number(number), place) : childUrl(kind, value.id, parent, value.of.id, place) ?? itemUrl(parent, value.of.id, place)) : kind ? itemUrl(kind, value.id, place) : null
  // What was deleted has its number left.
  const own = value.name ?? `#${value.id}`
  const name = value.of ? `${value.of.name} ${own}` : own
  return page && kind && offers(app.session, kind, 'read', place?.id) ? <Link to={page}>{name}</Link> : <span>{name}</span>
}

interface Props {
  field: Field
  value: unknown
  kindName: string
  item?: Item
  /** In a table: one line. */
  short?: boolean
}

export function FieldValue({ field, value, kindName, item, short }: Props) {
  const { t, w, n, language } = useI18n()
  if (editorOf(kindName, field)?.Show) return <Special {...{ field, value: value ?? null, kindName, item, short }} />
  if (field.secret) return <span className="muted">{t('value.secret')}</span>
  if (value === null || value === undefined || value === '') {
    return <span className="muted">{t('value.none')}</span>
  }
  switch (field.type) {
    case 'bool':
      return <span className={value ? 'yes' : 'muted'}>{value ? t('form.yes') : t('form.no')}</span>
    case 'time':
      return <Time at={String(value)} />
    case 'choice': {
      const choice = field.choices?.find((c) => c.value === value)
      return <span className="tag">{choice ? w(choice.title) : String(value)}</span>
    }
    case 'ref':
      return isRef(value) && field.ref ? <RefLink kindName={field.ref} value={value} project={item?.project ?? null} /> : <span>{String(value)}</span>
    case 'int':
    case 'real':
      return <span className="num">{typeof value !== 'number' ? String(value) : field.unit === 'bytes' ? formatBytes(value) : field.unit === 'hours' ? (value === 0 ? t('value.noLimit') : formatDuration(value * 3600, language)) : field.unit === 'seconds' ? formatDuration(value, language) : n(value)}</span>
    case 'refs':
      return (
        <span className="tags">
          {(Array.isArray(value) ? value : []).filter(isRef).map((one) => (
            <span key={one.id} className="tag">{field.ref ? <RefLink kindName={field.ref} value={one} project={item?.project ?? null} /> : one.name}</span>
          ))}
        </span>
      )
    case 'texts':
    case 'json':
      return <Special {...{ field, value, kindName, item, short }} />
    default:
      if (!short && field.long && field.name === 'command') return <pre>{String(value)}</pre>
      return short ? <span title={String(value)}><Marked text={String(value)} item={item} field={field.name} /></span> : <span className="pre">{String(value)}</span>
  }
}

function Special({ field, value, kindName, item, short }: Props) {
  const { t, w } = useI18n()
  const Show = editorOf(kindName, field)?.Show
  if (Show) {
    return (
      <Suspense fallback={null}>
        <Show value={value} short={short === true} item={item} refKind={field.ref} />
      </Suspense>
    )
  }
  if (field.type === 'texts' && Array.isArray(value)) {
    const shown = short ? value.slice(0, 3) : value
    return (
      <span className="tags">
        {shown.map((text) => <span key={String(text)} className="tag">{String(text)}</span>)}
        {shown.length < value.length && <span className="muted">{t('value.more', { n: value.length - shown.length })}</span>}
      </span>
    )
  }
  if (field.members && value !== null && typeof value === 'object') {
    const set = field.members.filter((m) => m.name in value)
    if (set.length === 0) return <span className="muted">{t('value.none')}</span>
    return (
      <ul className="members-shown">
        {set.map((m) => <li key={m.name}><span className="muted">{w(m.title)}</span> <FieldValue field={m} value={(value as Record<string, unknown>)[m.name]} kindName={kindName} short={short} /></li>)}
      </ul>
    )
  }
  const text = JSON.stringify(value, null, short ? undefined : 2)
  return short ? <code className="clip">{text}</code> : <pre>{text}</pre>
}
