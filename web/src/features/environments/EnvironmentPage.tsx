import { Button } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { listUrl } from '../../app/links'
import type { Item } from '../../api/kinds'
import { useItem } from '../../api/objects'
import { may, offers } from '../../api/session'
import { CopyText } from '../../components/CopyText'
import { formatDuration } from '../../components/format'
import { useNow } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { isRef } from '../../components/names'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { ComputePage } from '../jobs/ComputePage'
import { ReasonNote } from '../jobs/JobPage'
import { StateTag } from '../jobs/State'
import { useJobTabs } from '../jobs/tabs'
import { Dialogs, type Open } from '../objects/Dialogs'
import { MoreMenu } from '../objects/Head'
import { fits } from '../objects/fits'
import { Facts } from '../objects/ObjectTabs'
import type { PageProps } from '../objects/special'
import { InstallTool } from '../tools/InstallTool'
import { useAccess } from './environments'
import { ToolButton } from './Tools'

const hidden = ['name', 'state', 'reason', 'reason_zh', 'job', 'idle_s', 'ssh_port', 'ends_at']

/** How much of its time is left, and since when nobody used it. */
function TimeLeft({ item, idle }: { item: Item; idle: number | null }) {
  const { t, language } = useI18n()
  const now = useNow()
  const ends = typeof item['ends_at'] === 'string' ? Date.parse(item['ends_at']) : NaN
  return (
    <>
      {Number.isFinite(ends) && <span className="muted num">{t('environment.left', { time: formatDuration((ends - Math.max(now, Date.now() - 20_000)) / 1000, language) })}</span>}
      {idle !== null && idle >= 60 && <span className="muted num">{t('environment.idle', { time: formatDuration(idle, language) })}</span>}
    </>
  )
}

/** The ways in: tools in the browser, and ssh. */
function Ways({ item }: { item: Item }) {
  const { t } = useI18n()
  const access = useAccess(item)
  const [shown, setShown] = useState(false)
  if (access.error && !access.data) return <ErrorState error={access.error} onRetry={() => void access.refetch()} />
  if (!access.data) return <Skeleton n={1} />
  const { tools, ssh } = access.data
  return (
    <section className="block ways" aria-label={t('environment.ways')}>
      <h2>{t('environment.ways')}</h2>
      <div className="row wrap">{tools.filter((tool) => tool.installed).map((tool) => <ToolButton key={tool.name} item={item} tool={tool} />)}</div>
      {tools.filter((tool) => !tool.installed).map((tool) => <InstallTool key={tool.name} name={tool.name} />)}
      {ssh ? (
        <>
          <CopyText text={ssh.command} label={t('environment.ssh')} />
          {ssh.password && (shown ? <CopyText text={ssh.password} label={t('environment.password')} /> : <div><Button size="small" icon={<Icon name="key" size={12} />} onClick={() => setShown(true)}>{t('environment.showPassword')}</Button></div>)}
        </>
      ) : <p className="muted">{t('environment.noSsh')}</p>}
    </section>
  )
}

export function EnvironmentPage({ kind, place, item }: PageProps) {
  const { t, w } = useI18n()
  const { session, project, kind: byName } = useApp()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open | null>(null)
  const job = useItem(byName('job'), place, isRef(item['job']) ? item['job'].id : NaN, isRef(item['job']))
  const tabs = useJobTabs(job.data, item)
  const running = item['state'] === 'running'
  const own = session.user.administrator || (isRef(item['created_by']) && item['created_by'].id === session.user.id)
  const actions = kind.actions.filter((a) => (a.name !== 'keep' || own) && a.on === 'item' && a.method === 'POST' && fits(kind, a, item) && may(session, a.permission, project?.id))
  const first = ['start', 'stop', 'extend'].flatMap((name) => actions.filter((a) => a.name === name))
  const rest = actions.filter((a) => !first.includes(a))
  const mayUpdate = offers(session, kind, 'update', project?.id)
  const over = item['state'] === 'stopped' || item['state'] === 'failed'
  const menu = [
    ...rest.map((a) => ({ key: a.name, label: w(a.title), danger: a.danger })),
    ...(mayUpdate ? [{ key: 'edit', label: t('object.edit') }] : []),
    ...(offers(session, kind, 'delete', project?.id) ? [{ key: 'delete', label: t('object.delete'), danger: true, disabled: !over }] : []),
  ]
  const act = (key: string) => {
    const action = actions.find((a) => a.name === key)
    setOpen({ what: action ?? (key as 'edit' | 'delete'), item })
  }
  const idle = typeof item['idle_s'] === 'number' ? item['idle_s'] : null
  return (
    <ComputePage
      kind={kind} item={item}
      head={<><StateTag state={String(item['state'])} />{running && <TimeLeft item={item} idle={idle} />}</>}
      note={!running && <ReasonNote item={item} failed={item['state'] === 'failed'} />}
      buttons={
        <>
          {first.map((a) => <Button key={a.name} danger={a.danger} type={a.name === 'start' ? 'primary' : 'default'} onClick={() => setOpen({ what: a, item })}>{w(a.title)}</Button>)}
          <MoreMenu entries={menu} onPick={act} />
        </>
      }
      tabs={[
        {
          name: 'overview', title: t('object.overview'),
          content: () => <div className="summary">{running && <Ways item={item} />}<Facts brief kind={{ ...kind, fields: kind.fields.filter((f) => !hidden.includes(f.name) && !(f.name === 'description' && !item[f.name])) }} item={item} /></div>,
        },
        ...tabs,
      ]}
    >
      <Dialogs kind={kind} place={place} open={open} onClose={() => setOpen(null)} onDeleted={() => void navigate(listUrl(kind, project) ?? '/', { replace: true })} />
    </ComputePage>
  )
}
