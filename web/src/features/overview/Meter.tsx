import type { Schema } from '../../api/client'
import { formatBytes } from '../../components/format'
import { useI18n } from '../../i18n'
import '../jobs/compute.css'

export type Amounts = Partial<Schema<'Amounts'>>

/** What there is or may be used, what is reserved for jobs, and what is really used. */
export interface Use {
  most?: Amounts
  reserved?: Amounts
  used?: Amounts
}

export interface Row {
  name: string
  title: string
  /** Null: nothing of it is reserved, or it is not known what is used. */
  reserved: number | null
  used: number | null
  most: number | null
  format: (value: number) => string
}

/** One row per kind of resource that is reserved, used or limited. */
export function useRows(): (use: Use) => Row[] {
  const { t, n } = useI18n()
  return ({ most, reserved, used }) => {
    const row = (name: string, title: string, of: (a: Amounts | undefined) => number | null | undefined, format: Row['format']): Row => ({ name, title, reserved: of(reserved) ?? null, used: of(used) ?? null, most: of(most) ?? null, format })
    const rows = [
      row('cpus', t('meter.cpu'), (a) => a?.cpus, (v) => t('chart.cores', { n: n(v, 2) })),
      row('memory', t('meter.memory'), (a) => a?.memory, formatBytes),
    ]
    for (const name of ['disk', 'storage'] as const) {
      const one = row(name, t(name === 'disk' ? 'chart.disk' : 'meter.storage'), (a) => a?.[name], formatBytes)
      if (one.used || one.reserved || one.most) rows.push(one)
    }
    for (const kind of new Set([most, reserved, used].flatMap((a) => Object.keys(a?.accelerators ?? {})))) {
      rows.push(row(`accelerator-${kind}`, kind, (a) => a?.accelerators?.[kind], (v) => n(v, 2)))
    }
    return rows
  }
}

const share = (value: number | null, most: number | null) => (most === null || !value ? 0 : Math.min(1, most > 0 ? value / most : 1))

function useText(): (row: Row) => string {
  const { t } = useI18n()
  return ({ reserved, used, most, format }) => {
    const parts = [
      ...(used === null ? [] : [t('meter.used', { n: format(used) })]),
      ...(reserved === null ? [] : [t('meter.reserved', { n: format(reserved) })]),
    ]
    const all = parts.join(' · ')
    return most === null ? all : t('meter.of', { used: all, most: format(most) })
  }
}

/** A bar with both: what is reserved behind, what is used before it. */
export function Meter({ row, bare }: { row: Row; bare?: boolean }) {
  const { n } = useI18n()
  const text = useText()(row)
  const reserved = share(row.reserved, row.most)
  const used = share(row.used, row.most)
  return (
    <div className="meter" data-resource={row.name}>
      <div className="meter-head">
        {!bare && <span>{row.title}</span>}
        <span className="num muted">{text}</span>
      </div>
      {row.most !== null && (
        <div className="meter-bar" role="meter" aria-label={row.title} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(used * 100)} aria-valuetext={`${text} (${n(Math.round(used * 100))}%)`} title={text}>
          <div className="reserved" style={{ width: `${reserved * 100}%` }} />
          <div className={used >= 0.9 ? 'used full' : 'used'} style={{ width: `${used * 100}%` }} />
        </div>
      )}
    </div>
  )
}

export function Meters(use: Use) {
  const { t } = useI18n()
  const rows = useRows()(use)
  return (
    <>
      <div className="meters">{rows.map((row) => <Meter key={row.name} row={row} />)}</div>
      <p className="meter-key muted"><i className="used" /> {t('meter.keyUsed')} <i className="reserved" /> {t('meter.keyReserved')}</p>
    </>
  )
}
