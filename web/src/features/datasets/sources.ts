import type { Key } from '../../i18n'

/** Where an import may take data from besides uploads: the members of its request, as the forms ask for them. */
export interface SourceField {
  name: string
  label: Key
  /** May stay empty. */
  optional?: boolean
  number?: boolean
  long?: boolean
  /** One of these; the first is what is meant when nothing is said. */
  choices?: { value: string; label: Key }[]
  example?: string
}

export interface Source {
  title: Key
  secret: Key
  /** The field that the secret stands behind. */
  secretAfter: string
  hint: Key
  fields: SourceField[]
}

export const sources: Record<'s3' | 'database', Source> = {
  s3: {
    title: 'source.s3',
    secret: 'source.s3.secret',
    secretAfter: 'access_key',
    hint: 'source.s3.hint',
    fields: [
      { name: 'endpoint', label: 'source.s3.endpoint', optional: true, example: 'https://s3.example.com' },
      { name: 'region', label: 'source.s3.region', optional: true, example: 'us-east-1' },
      { name: 'bucket', label: 'source.s3.bucket' },
      { name: 'prefix', label: 'source.s3.prefix', optional: true, example: 'roads/' },
      { name: 'key', label: 'source.s3.key', optional: true, example: 'roads.zip' },
      { name: 'access_key', label: 'source.s3.access_key', optional: true },
      { name: 'ca', label: 'source.ca', optional: true, long: true, example: '-----BEGIN CERTIFICATE-----' },
    ],
  },
  database: {
    title: 'source.database',
    secret: 'source.database.secret',
    secretAfter: 'user',
    hint: 'source.database.hint',
    fields: [
      { name: 'host', label: 'source.database.host', example: 'db.example.com' },
      { name: 'port', label: 'source.database.port', optional: true, number: true, example: '3306' },
      { name: 'user', label: 'source.database.user' },
      { name: 'database', label: 'source.database.database' },
      { name: 'table', label: 'source.database.table', optional: true },
      { name: 'query', label: 'source.database.query', optional: true, long: true, example: 'SELECT id, bytes, class FROM pictures ORDER BY id' },
      { name: 'name', label: 'source.database.name', example: 'id' },
      { name: 'content', label: 'source.database.content', optional: true, example: 'bytes' },
      { name: 'file', label: 'source.database.file', optional: true },
      { name: 'label', label: 'source.database.label', optional: true, example: 'class' },
      { name: 'annotation', label: 'source.database.annotation', optional: true },
      { name: 'tls', label: 'source.database.tls', optional: true, choices: [{ value: 'off', label: 'source.tls.off' }, { value: 'required', label: 'source.tls.required' }] },
      { name: 'ca', label: 'source.ca', optional: true, long: true, example: '-----BEGIN CERTIFICATE-----' },
    ],
  },
}

export type SourceKind = keyof typeof sources
export type SourceValues = Record<string, string>

/** Whether all that must be given is there. */
export const isComplete = (kind: SourceKind, values: SourceValues) =>
  sources[kind].fields.every((f) => f.optional || (values[f.name] ?? '').trim() !== '')

/** The body of the request; empty members are left out. */
export function bodyOf(kind: SourceKind, values: SourceValues, secret: string): Record<string, unknown> {
  const members: Record<string, string | number> = {}
  for (const f of sources[kind].fields) {
    const text = (values[f.name] ?? '').trim()
    if (text) members[f.name] = f.number ? Number(text) : text
  }
  return { [kind]: members, ...(secret ? { secret } : {}) }
}
