import type { Item } from '../../api/kinds'

/** Lines that follow one another and say much the same: the newest stands for all of them. */
export interface Fold {
  first: Item
  rest: Item[]
}

/** Whom and what a line is about; null: it is like no other. */
function subject(item: Item): string | null {
  const user = item['user'] as { id: number } | null
  const object = item['object'] ?? item['name']
  return user && object != null ? `${user.id} ${String(item['kind'])} ${String(object)}` : null
}

/** The platform's own lines go with the line above them; so do those of one person about one object, in a row but for the platform's. */
export function foldLines(items: readonly Item[]): Fold[] {
  const folds: Fold[] = []
  let last: string | null = null
  for (const item of items) {
    const own = !item['user']
    const what = subject(item)
    const fold = folds[folds.length - 1]
    if (fold && (own || (what !== null && what === last))) fold.rest.push(item)
    else folds.push({ first: item, rest: [] })
    if (!own) last = what
  }
  return folds
}

/** The rows to show: of a fold that is open all lines, else its first. */
export function rowsOf(folds: readonly Fold[], open: ReadonlySet<number>): Item[] {
  return folds.flatMap(({ first, rest }) => (open.has(first.id) ? [first, ...rest] : [first]))
}
