import type { Schema } from '../../api/client'

export interface RecordFile {
  name: string
  digest: string
  size: number
}

export type RecordPage = Schema<'RecordPage'>
export type Verdict = Schema<'RecordVerdict'>
export type RecordItem = RecordPage['items'][number]
type Field = RecordPage['fields'][number]

export const pageSize = 20

/** A value that is only told of: bytes, arrays, long texts. */
export interface Large {
  bytes: number
  type: string
}

export function isLarge(value: unknown): value is Large {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 2 && typeof (value as Large).bytes === 'number' && typeof (value as Large).type === 'string'
}

/** "array float32 [3, *, 224]" */
export function fieldType(field: Pick<Field, 'type' | 'dtype' | 'shape'>): string {
  if (field.dtype === null) return field.type
  return `${field.type} ${field.dtype} [${field.shape.map((d) => (d < 0 ? '*' : d)).join(', ')}]`
}
