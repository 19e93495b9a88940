import { Button, Tooltip } from 'antd'
import { memo } from 'react'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import { useBenchState } from './useBench'

/** Whether the work is safe, who else is here, and what waits for a choice. Always to be seen. */
export const StateLine = memo(function StateLine({ bench }: { bench: BenchStore }) {
  const { t, n } = useI18n()
  const status = useBenchState(bench, (s) => s.status)
  const people = useBenchState(bench, (s) => s.room?.people)
  const said = useBenchState(bench, (s) => s.said)
  const text = status.state === 'offline' ? (status.waiting > 0 ? t('bench.offline', { n: status.waiting }) : t('bench.offlineNone')) : t(status.state === 'saved' ? 'bench.saved' : 'bench.saving')
  return (
    <>
      <span className={`bench-saved bench-${status.state}`} role="status" aria-live="polite">{bench.fixed ? t('bench.readOnly') : text}</span>
      {status.journal !== 'fine' && <span className="bench-warn" role="alert">{t(status.journal === 'full' ? 'bench.journalFull' : 'bench.journalOff')}</span>}
      {status.troubles.length > 0 && <Button size="small" danger onClick={() => bench.set({ panel: 'troubles' })}>{t('bench.troubles', { n: status.troubles.length })}</Button>}
      <span className="grow bench-said" role="status">{said && <span key={said.n}>{'key' in said ? t(said.key) : said.text}</span>}</span>
      {people && people.length > 0 && (
        <ul className="bench-people" aria-label={t('bench.people')}>
          {people.slice(0, 8).map((p) => <li key={p.client}><Tooltip title={p.user.name}><span className="avatar" style={{ background: colorOfClient(p.client) }}>{[...(p.user.name ?? '')][0]?.toUpperCase()}</span></Tooltip></li>)}
          {people.length > 8 && <li className="muted num">{`+${n(people.length - 8)}`}</li>}
        </ul>
      )}
    </>
  )
})

const colors = ['#b42318', '#0b6b63', '#6e56cf', '#8a5a00', '#0d5fb8', '#a3237a', '#3f6212', '#57534e']

/** White letters are to be read on each. */
export function colorOfClient(client: string): string {
  let hash = 0
  for (const c of client) hash = (hash * 31 + c.charCodeAt(0)) >>> 0
  return colors[hash % colors.length] ?? '#57534e'
}
