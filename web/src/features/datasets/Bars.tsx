import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useI18n } from '../../i18n'

export interface BarRow {
  key: string
  title: string
  value: number
  note?: string
  to?: string
}

/** Horizontal bars with their numbers; the longest fills the width. */
export function Bars({ rows, label }: { rows: BarRow[]; label: string }) {
  const { n } = useI18n()
  const most = Math.max(1, ...rows.map((r) => r.value))
  return (
    <table className="bars" aria-label={label}>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row">{row.to ? <Link to={row.to}>{row.title}</Link> : row.title}</th>
            <td className="bars-line">{row.value > 0 && <div style={{ width: `${(row.value / most) * 100}%` }} />}</td>
            <td className="right num">{n(row.value)}{row.note && <span className="muted"> {row.note}</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export function Block({ title, children }: { title: string; children: ReactNode }) {
  return <section className="block"><h2>{title}</h2>{children}</section>
}
