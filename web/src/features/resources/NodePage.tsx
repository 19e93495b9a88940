import { useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
import { RefLink } from '../../components/FieldValue'
import { absoluteTime, formatBytes } from '../../components/format'
import { RefreshPicker, useRefetch } from '../../components/Refresh'
import { ErrorState, Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { StateTag } from '../jobs/State'
import { Facts } from '../objects/ObjectTabs'
import type { SpecialProps } from '../objects/special'
import { refOf } from '../overview/home'
import { Meters } from '../overview/Meter'
import '../overview/overview.css'
import { Failures, Part, Running } from '../overview/Things'
import { NodeCurves } from './NodeCurves'

type Overview = Schema<'NodeOverview'>

/** A machine: its load, the jobs on it, what ended there and how, and how its state changed. */
export function NodePage({ kind, item }: SpecialProps) {
  const { t } = useI18n()
  const every = useRefetch()
  const found = useQuery({
    queryKey: ['node-overview', item.id, item['state']],
    queryFn: ({ signal }) => request<Overview>(`/nodes/${item.id}/overview`, { signal }),
    refetchInterval: every,
    placeholderData: (old) => old,
  })
  const node = found.data
  if (found.error && !node) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!node) return <Skeleton />
  return (
    <div className="home node-page">
      {node.load && <Part name="load" title={t('node.load')} more={<RefreshPicker />}><Load load={node.load} /></Part>}
      <Part name="running" title={t('node.running')} total={node.running.length}><Running items={node.running} away /></Part>
      <NodeCurves kind={kind} item={item} />
      <Part name="ended" title={t('node.ended')} total={node.ended.length}>
        {node.ended.length === 0 ? <p className="muted">{t('node.noneEnded')}</p> : <Failures items={node.ended} away />}
      </Part>
      <Part name="states" title={t('node.changes')}><Changes changes={node.changes} /></Part>
      <Part name="facts" title={t('object.facts')}><Facts kind={kind} item={item} /></Part>
    </div>
  )
}

function Load({ load }: { load: NonNullable<Overview['load']> }) {
  const { t } = useI18n()
  const { disk } = load.used
  return (
    <>
      <Meters most={load.total} reserved={load.reserved} used={load.used} />
      {disk != null && load.disk_free != null && <p className="num">{t('node.disk', { total: formatBytes(load.disk), used: formatBytes(disk), free: formatBytes(load.disk_free) })}</p>}
    </>
  )
}

function Changes({ changes }: { changes: Overview['changes'] }) {
  const { t, sentence, language } = useI18n()
  if (changes.length === 0) return <p className="muted">{t('node.noChanges')}</p>
  return (
    <ul className="home-list">
      {changes.map((change) => {
        const by = refOf(change.by)
        return (
          <li key={change.at}>
            <StateTag state={change.to} />
            <span>{by ? <RefLink kindName="user" value={by} /> : <span className="muted">{t('node.byPlatform')}</span>}</span>
            <span className="home-why">{change.from ? '' : t('node.found')}{change.reason ? sentence(change.reason.en, change.reason.zh === change.reason.en ? null : change.reason.zh) : ''}</span>
            <span className="home-when" title={absoluteTime(Date.parse(change.at), language)}><Time at={change.at} /></span>
          </li>
        )
      })}
    </ul>
  )
}
