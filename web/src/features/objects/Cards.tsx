import { useMemo } from 'react'
import { useI18n } from '../../i18n'
import { isMissing } from './empty'
import { columnsOf, RowActions, type RowsProps } from './rows'

/** The rows of a list on a phone. */
export function Cards({ kind, items, urlOf, may, onAct, hiddenFields }: RowsProps) {
  const i18n = useI18n()
  const [first, ...rest] = useMemo(() => columnsOf(kind, i18n, urlOf, hiddenFields), [kind, i18n, urlOf, hiddenFields])
  return (
    <ul className="cards">
      {items.map((item) => (
        <li key={item.id} className="card">
          <div className="card-head">
            <strong>{first?.cell(item)}</strong>
            <RowActions kind={kind} item={item} may={may} onAct={onAct} />
          </div>
          <dl>
            {rest.filter((column) => !(column.field && isMissing(item[column.name]))).map((column) => (
              <div key={column.name}>
                <dt>{column.title}</dt>
                <dd>{column.cell(item)}</dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ul>
  )
}
