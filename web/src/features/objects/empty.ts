/** Whether a value says nothing: there is none, or it is an empty text, list or table. */
export function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}
