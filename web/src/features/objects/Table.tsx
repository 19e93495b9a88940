import { useEffect, useMemo, useRef, useState } from 'react'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import { columnsOf, RowActions, type RowsProps } from './rows'

const rowHeight = 40
const spare = 20
const windowFrom = 150

/** Which rows to draw of a long list: those in sight and some around them. Rows have one height. */
function useWindow(count: number, table: React.RefObject<HTMLTableElement | null>): [number, number] {
  const [range, setRange] = useState<[number, number]>([0, windowFrom])
  useEffect(() => {
    const scroller = document.getElementById('main')
    if (!scroller || count <= windowFrom) return
    const look = () => {
      const above = scroller.getBoundingClientRect().top - (table.current?.getBoundingClientRect().top ?? 0)
      const first = Math.max(0, Math.floor(above / rowHeight) - spare)
      const last = first + Math.ceil(scroller.clientHeight / rowHeight) + 2 * spare
      setRange((old) => (old[0] === first && old[1] === last ? old : [first, last]))
    }
    look()
    scroller.addEventListener('scroll', look, { passive: true })
    return () => scroller.removeEventListener('scroll', look)
  }, [count, table])
  return count <= windowFrom ? [0, count] : [range[0], Math.min(range[1], count)]
}

export function Table(props: RowsProps) {
  const { kind, items, urlOf, may, onAct, active, hiddenFields, sort, onSort } = props
  const i18n = useI18n()
  const { t } = i18n
  const table = useRef<HTMLTableElement>(null)
  const columns = useMemo(() => columnsOf(kind, i18n, urlOf, hiddenFields), [kind, i18n, urlOf, hiddenFields])
  const [from, to] = useWindow(items.length, table)
  const hasActions = may('update') || may('delete') || kind.actions.length > 0

  useEffect(() => {
    table.current?.querySelector<HTMLElement>(`tr[data-row="${active}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [active])

  const span = columns.length + (hasActions ? 1 : 0)
  return (
    <div className="table-box">
      <table ref={table} className="table" aria-rowcount={items.length}>
        <thead>
          <tr>
            {columns.map((column) => {
              const direction = sort === column.name ? 'ascending' : sort === `-${column.name}` ? 'descending' : undefined
              return (
                <th key={column.name} scope="col" aria-sort={direction} className={column.number ? 'right' : undefined}>
                  {column.sort ? (
                    <button type="button" className="sort" title={t('list.sort', { title: column.title })} onClick={() => onSort(direction === 'ascending' ? `-${column.name}` : direction === 'descending' ? '' : column.name)}>
                      {column.title}
                      {direction && <Icon name={direction === 'ascending' ? 'up' : 'down'} size={11} />}
                    </button>
                  ) : column.title}
                </th>
              )
            })}
            {hasActions && <th scope="col" className="actions-head"><span className="visually-hidden">{t('list.actions')}</span></th>}
          </tr>
        </thead>
        <tbody>
          {from > 0 && <tr aria-hidden="true" style={{ height: from * rowHeight }}><td colSpan={span} /></tr>}
          {items.slice(from, to).map((item, i) => (
            <tr key={item.id} data-row={from + i} aria-rowindex={from + i + 1} className={from + i === active ? 'active' : undefined}>
              {columns.map((column) => <td key={column.name} className={column.number ? 'right' : column.first ? 'first' : undefined}>{column.cell(item)}</td>)}
              {hasActions && <td className="actions-cell"><RowActions kind={kind} item={item} may={may} onAct={onAct} /></td>}
            </tr>
          ))}
          {to < items.length && <tr aria-hidden="true" style={{ height: (items.length - to) * rowHeight }}><td colSpan={span} /></tr>}
        </tbody>
      </table>
    </div>
  )
}
