import { Button } from 'antd'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl, listUrl } from '../../app/links'
import { may, offers } from '../../api/session'
import { AsidePart } from '../../components/Aside'
import { formatDuration } from '../../components/format'
import { useNow } from '../../components/hooks'
import { Time } from '../../components/Time'
import type { Item } from '../../api/kinds'
import { useI18n } from '../../i18n'
import { AsideFacts } from '../objects/AsideFacts'
import { Dialogs, type Open } from '../objects/Dialogs'
import { MoreMenu } from '../objects/Head'
import type { PageProps } from '../objects/special'
import { ComputePage } from './ComputePage'
import { isOver, reasonOf } from './jobs'
import { StateTag } from './State'
import { useJobTabs } from './tabs'

/** How long it ran, or when it is likely to start. */
export function JobTimes({ job }: { job: Item }) {
  const { t, language } = useI18n()
  const now = useNow()
  const started = typeof job['started_at'] === 'string' ? Date.parse(job['started_at']) : NaN
  const ended = typeof job['ended_at'] === 'string' ? Date.parse(job['ended_at']) : NaN
  if (job['state'] === 'queued' && typeof job['estimate'] === 'string') return <span className="muted">{t('job.likelyStart')} <Time at={job['estimate']} /></span>
  if (Number.isNaN(started)) return null
  return <span className="muted num">{t(Number.isNaN(ended) ? 'job.running' : 'job.ran', { time: formatDuration(((Number.isNaN(ended) ? Math.max(now, Date.now()) : ended) - started) / 1000, language) })}</span>
}

/** Why it is as it is; of what failed, the way to its log, where the program says more. */
export function ReasonNote({ item, failed, log }: { item: Item; failed: boolean; log?: boolean }) {
  const i18n = useI18n()
  const text = reasonOf(item, i18n)
  return text ? <p className={failed ? 'note note-error reason' : 'note reason'} role="status">{text}{failed && log && <> · <Link to="?tab=log" replace>{i18n.t('job.seeLog')}</Link></>}</p> : null
}

/** Those that are no kinds themselves. */
const owners: Record<string, string> = { image_build: 'image' }

// Told elsewhere on the page.
const told = ['state', 'reason', 'reason_zh', 'owner', 'owner_kind', 'not_before', 'name']

export function JobPage({ kind, place, item }: PageProps) {
  const { t, w } = useI18n()
  const { session, project, kind: byName } = useApp()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open | null>(null)
  const tabs = useJobTabs(item)
  const over = isOver(item['state'])
  const stop = kind.actions.find((a) => a.name === 'stop')
  const ownerKind = typeof item['owner_kind'] === 'string' ? item['owner_kind'] : ''
  const owner = ownerKind !== '' ? byName(owners[ownerKind] ?? ownerKind) : undefined
  const ownerUrl = owner && owner.scope !== 'child' ? itemUrl(owner, Number(item['owner']), project) : null
  return (
    <ComputePage
      kind={kind} item={item}
      head={<><StateTag state={String(item['state'])} /><JobTimes job={item} /></>}
      note={<ReasonNote item={item} failed={item['state'] === 'failed'} log={Number(item['attempt']) > 0} />}
      buttons={
        <>
          {owner && ownerUrl && <Link to={ownerUrl}>{t('job.of', { kind: w(owner.title) })}</Link>}
          {!over && stop && may(session, stop.permission, project?.id) && <Button danger disabled={item['state'] === 'stopping'} onClick={() => setOpen({ what: stop, item })}>{w(stop.title)}</Button>}
          <MoreMenu entries={offers(session, kind, 'delete', project?.id) ? [{ key: 'delete', label: t('object.delete'), danger: true, disabled: !over }] : []} onPick={() => setOpen({ what: 'delete', item })} />
        </>
      }
      tabs={[...tabs].sort((a, b) => Number(b.name === 'log') - Number(a.name === 'log'))}
      aside={<AsidePart title={t('object.facts')}><AsideFacts item={item} of={[{ kind, item, without: told }]} /></AsidePart>}
    >
      <Dialogs kind={kind} place={place} open={open} onClose={() => setOpen(null)} onDeleted={() => void navigate(listUrl(kind, project) ?? '/', { replace: true })} />
    </ComputePage>
  )
}
