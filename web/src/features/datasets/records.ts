import type { operations } from '../../api/schema'

export interface RecordFile {
  name: string
  digest: string
  size: number
}

type Answer<T extends keyof operations> = operations[T] extends { responses: { 200: { content: { 'application/json': infer A } } } } ? A : never
export type RecordPage = Answer<'get_datasets_dataset_versions_version_records_file_items'>
export type Verdict = Answer<'post_datasets_dataset_versions_version_records_file_verify'>
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
