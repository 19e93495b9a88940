import type { Schema } from '../../api/client'
import { formatBytes } from '../../components/format'
import { useI18n } from '../../i18n'
import '../jobs/compute.css'

export type Amounts = Partial<Schema<'Amounts'>>

interface Row {
  name: string
  title: string
  used: number
  most: number | null
  format: (value: number) => string
}

/** One row per kind of resource that is used or limited. */
export function useRows(): (most: Amounts | undefined, used: Amounts | undefined) => Row[] {
  const { t, n } = useI18n()
  return (most, used) => {
    const plain = (v: number) => n(v, 2)
    const rows: Row[] = [
      { name: 'cpu', title: t('meter.cpu'), used: used?.cpu ?? 0, most: most?.cpu ?? null, format: (v) => t('chart.cores', { n: n(v, 2) }) },
      { name: 'memory', title: t('meter.memory'), used: used?.memory ?? 0, most: most?.memory ?? null, format: formatBytes },
    ]
    for (const name of ['storage', 'disk'] as const) {
      if (used?.[name] !== undefined || most?.[name] !== undefined) rows.push({ name, title: t(name === 'disk' ? 'chart.disk' : 'meter.storage'), used: used?.[name] ?? 0, most: most?.[name] ?? null, format: formatBytes })
    }
    for (const kind of new Set([...Object.keys(most?.accelerators ?? {}), ...Object.keys(used?.accelerators ?? {})])) {
      rows.push({ name: `accelerator-${kind}`, title: kind, used: used?.accelerators?.[kind] ?? 0, most: most?.accelerators?.[kind] ?? null, format: plain })
    }
    return rows
  }
}

/** How much of what there is, or of what is allowed, is in use. */
export function Meter({ row, bare }: { row: Row; bare?: boolean }) {
  const { t, n } = useI18n()
  const share = row.most === null || row.used === 0 ? 0 : Math.min(1, row.used / row.most)
  const text = row.most === null ? (bare ? row.format(row.used) : t('meter.noLimit', { used: row.format(row.used) })) : t('meter.of', { used: row.format(row.used), most: row.format(row.most) })
  return (
    <div className="meter" data-resource={row.name}>
      <div className="meter-head">
        {!bare && <span>{row.title}</span>}
        <span className="num muted">{text}</span>
      </div>
      {row.most !== null && (
        <div className="meter-bar" role="meter" aria-label={row.title} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)} aria-valuetext={`${n(Math.round(share * 100))}%`}>
          <div className={share >= 0.9 ? 'full' : undefined} style={{ width: `${share * 100}%` }} />
        </div>
      )}
    </div>
  )
}

export function Meters({ most, used }: { most: Amounts | undefined; used: Amounts | undefined }) {
  const rows = useRows()(most, used)
  return <div className="meters">{rows.map((row) => <Meter key={row.name} row={row} />)}</div>
}
