import { Button } from 'antd'
import { createContext, useContext, useMemo, useState } from 'react'
import type { Item } from '../../api/kinds'
import { useI18n } from '../../i18n'
import { foldLines, rowsOf } from './fold'

interface Folding {
  /** How many more lines one stands for. */
  rest: ReadonlyMap<number, number>
  open: ReadonlySet<number>
  toggle: (id: number) => void
}

export const FoldContext = createContext<Folding | null>(null)

/** The rows of a list that folds, and what its cells need to say so; null: nothing is folded. */
export function useFolded(on: boolean, items: Item[]): { rows: Item[]; folding: Folding | null } {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  return useMemo(() => {
    if (!on) return { rows: items, folding: null }
    const folds = foldLines(items)
    const toggle = (id: number) => setOpen((old) => {
      const next = new Set(old)
      if (!next.delete(id)) next.add(id)
      return next
    })
    return { rows: rowsOf(folds, open), folding: { rest: new Map(folds.map((f) => [f.first.id, f.rest.length])), open, toggle } }
  }, [on, items, open])
}

/** Beside what was done: how many lines like it follow. */
export function FoldButton({ item }: { item: Item }) {
  const { t, n } = useI18n()
  const folding = useContext(FoldContext)
  const rest = folding?.rest.get(item.id) ?? 0
  if (!folding || rest === 0) return null
  const open = folding.open.has(item.id)
  return <Button type="link" size="small" aria-expanded={open} title={t(open ? 'audit.fold' : 'audit.unfold')} onClick={() => folding.toggle(item.id)}>{open ? t('audit.fold') : t(item['user'] ? 'audit.more' : 'audit.morePlatform', { n: n(rest) })}</Button>
}
