/** The last lines of a text, whole ones. */
export function lastLines(text: string, most: number): string {
  const lines = text.trimEnd().split('\n')
  return lines.slice(-most).join('\n')
}
