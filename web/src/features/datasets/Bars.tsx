import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useI18n } from '../../i18n'

export interface BarRow {
  key: string
  title: string
  value: number
  note?: string
  /** Of its bar; the accent unless said. */
  color?: string
  /** What the bar is made of, from the left; each is paler than the one before. */
  parts?: { title: string; value: number }[]
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
            <th scope="row">{row.color && <span className="dot" style={{ background: row.color }} />}{row.to ? <Link to={row.to}>{row.title}</Link> : row.title}</th>
            <td className="bars-line">{row.value > 0 && <Line row={row} share={row.value / most} />}</td>
            <td className="right num">{n(row.value)}{row.note && <span className="muted"> {row.note}</span>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Line({ row, share }: { row: BarRow; share: number }) {
  const { n } = useI18n()
  const width = `${share * 100}%`
  const parts = row.parts?.filter((part) => part.value > 0) ?? []
  if (parts.length === 0) return <div className="bars-bar" style={{ width, background: row.color }} />
  return (
    <div className="bar-parts" style={{ width }} title={parts.map((part) => `${part.title} ${n(part.value)}`).join(' · ')}>
      {row.parts?.map((part, i) => part.value > 0 && <div key={part.title} className={`bars-bar bar-part-${i}`} style={{ flexGrow: part.value, background: row.color }} />)}
    </div>
  )
}

export function Block({ title, children }: { title: string; children: ReactNode }) {
  return <section className="block"><h2>{title}</h2>{children}</section>
}
