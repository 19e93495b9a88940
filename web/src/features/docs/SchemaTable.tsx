import { useState } from 'react'
import { useI18n } from '../../i18n'
import { limitsOf, namedIn, propertiesOf, typeOf, type Reference, type Schema } from './reference'

interface Row {
  name: string
  schema: Schema
  required: boolean
  /** Of a parameter: path, query or header. */
  place?: 'path' | 'query' | 'header'
}

/** The properties of a schema; what they are made of unfolds under them. */
export function SchemaTable({ schema, rows, schemas }: { schema?: Schema; rows?: Row[]; schemas: Reference['schemas'] }) {
  const shown: Row[] = rows ?? propertiesOf(schema?.type === 'array' ? schema.items ?? {} : schema ?? {}, schemas)
  if (shown.length === 0) return <p><code>{typeOf(schema ?? {})}</code></p>
  return <ul className="docs-schema">{shown.map((row) => <Property key={`${row.place ?? ''} ${row.name}`} row={row} schemas={schemas} />)}</ul>
}

function Property({ row, schemas }: { row: Row; schemas: Reference['schemas'] }) {
  const { t } = useI18n()
  const [open, setOpen] = useState(false)
  const { name, schema, required, place } = row
  const named = namedIn(schema)
  const inner = schema.items?.properties ? schema.items : schema
  const deeper = named !== null && schemas[named]?.properties ? schemas[named] : inner.properties ? inner : null
  const limits = limitsOf(schema).map((one) => t(`docs.limit.${one.name}`, { value: one.value }))
  return (
    <li>
      <span className="docs-property"><code>{name}</code>{required && <span className="docs-required">{t('docs.required')}</span>}{place && <span className="muted">{t(`docs.in.${place}`)}</span>}</span>
      <span className="docs-type">
        {deeper ? <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}><code>{typeOf(schema)}</code></button> : <code>{typeOf(schema)}</code>}
      </span>
      <span className="docs-says">{schema.description}{limits.length > 0 && <span className="muted"> {limits.join(', ')}</span>}</span>
      {open && deeper && <SchemaTable schema={deeper} schemas={schemas} />}
    </li>
  )
}
