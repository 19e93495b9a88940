import type { ShowProps } from '../../components/editors'
import { useI18n } from '../../i18n'

function text(value: unknown): string {
  if (value === null || value === undefined) return '—'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What an audited change did: {"field": new value} or {"field": [old, new]}. */
export function AuditDetail({ value, short }: ShowProps) {
  const { t } = useI18n()
  let data: unknown = value
  if (typeof value === 'string') {
    try {
      data = JSON.parse(value)
    } catch {
      data = value
    }
  }
  if (data === null || data === undefined || typeof data !== 'object') return <span className={data ? undefined : 'muted'}>{data ? text(data) : t('value.none')}</span>
  const entries = Object.entries(data as Record<string, unknown>)
  if (short) return <span className="clip muted" title={JSON.stringify(data)}>{entries.map(([name]) => name).join(', ')}</span>
  return (
    <dl className="facts">
      {entries.map(([name, change]) => (
        <div key={name}>
          <dt><code>{name}</code></dt>
          <dd>{Array.isArray(change) && change.length === 2 ? <><del>{text(change[0])}</del> → <ins>{text(change[1])}</ins></> : text(change)}</dd>
        </div>
      ))}
    </dl>
  )
}
