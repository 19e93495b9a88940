/** Whether there is no value. An empty list is one: a token without scopes may do everything. */
export function isMissing(value: unknown): boolean {
  return value === null || value === undefined || value === ''
}

/** Whether a value says nothing: there is none, or it is an empty list or table. */
export function isEmpty(value: unknown): boolean {
  return isMissing(value) || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}
