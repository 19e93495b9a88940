import { useState } from 'react'
import { Link } from 'react-router'
import { useI18n } from '../../i18n'
import { labelColumns, type Column, type Report } from './evaluations'
import { useFigures } from './useFigures'

type Row = Report['labels'][number]

const most = 50

/** Every label's own figures, the worst first; those that do not occur in the data are behind them. */
export function LabelTable({ labels }: { labels: readonly Row[] }) {
  const { t, n } = useI18n()
  const read = useFigures()
  const [by, setBy] = useState<Column | 'label'>('f1')
  const [all, setAll] = useState(false)
  const columns = labelColumns.filter((c) => labels.some((row) => row[c] !== undefined))
  const value = (row: Row) => (by === 'label' ? 0 : by === 'truths' ? -row.truths : row[by] ?? 2)
  const rows = [...labels].sort((a, b) => Number(a.truths === 0) - Number(b.truths === 0) || value(a) - value(b) || a.label.localeCompare(b.label))
  const shown = all ? rows : rows.slice(0, most)
  return (
    <>
      <div className="scroll-x">
        <table className="plain-table">
          <thead>
            <tr>
              <th aria-sort={by === 'label' ? 'ascending' : 'none'}><button type="button" className="link" onClick={() => setBy('label')}>{t('evaluation.label')}</button></th>
              {columns.map((c) => <th key={c} className="right" aria-sort={by === c ? 'ascending' : 'none'}><button type="button" className="link" onClick={() => setBy(c)}>{c === 'truths' ? t('evaluation.truths') : read.title(c)}</button></th>)}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.label}>
                <td><Link to={`?tab=samples&label=${encodeURIComponent(row.label)}`}>{row.label}</Link></td>
                {columns.map((c) => <td key={c} className="right num">{c === 'truths' ? n(row.truths) : read.text(c, row[c])}{c === 'f1' && typeof row.f1 === 'number' && <i className="evaluation-bar" aria-hidden="true"><b style={{ width: `${100 * row.f1}%` }} /></i>}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown.length && <button type="button" className="link" onClick={() => setAll(true)}>{t('evaluation.allOf', { n: n(rows.length) })}</button>}
    </>
  )
}
