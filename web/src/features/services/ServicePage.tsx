import { Button } from 'antd'
import { useCallback, useState } from 'react'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { listUrl } from '../../app/links'
import type { Item } from '../../api/kinds'
import { allItems, useList } from '../../api/objects'
import { may, offers } from '../../api/session'
import { AsidePart } from '../../components/Aside'
import { useI18n } from '../../i18n'
import { ComputePage } from '../jobs/ComputePage'
import { reasonOf } from '../jobs/jobs'
import { StateTag } from '../jobs/State'
import { AsideFacts } from '../objects/AsideFacts'
import { Dialogs, type Open } from '../objects/Dialogs'
import { MoreMenu, useObjectKeys } from '../objects/Head'
import { ListView } from '../objects/ListView'
import type { PageProps } from '../objects/special'
import { Address } from './Address'
import { Golden } from './Golden'
import { Interface } from './Interface'
import { Replicas, ServiceEvents } from './Replicas'
import { ServiceLog } from './ServiceLog'
import './services.css'
import { ServiceLineage } from './ServiceLineage'
import { isServing } from './services'
import { Share } from './Share'
import { TrafficView } from './TrafficView'
import { TryService } from './TryService'

// Told elsewhere on the page.
const told = ['name', 'description', 'state', 'reason', 'reason_zh', 'address', 'production', 'canary', 'share', 'golden_result', 'stopped']

function Side({ version, title }: { version: Item | undefined; title: string }) {
  const { t } = useI18n()
  if (!version) return null
  const made = (version['model_version'] ?? version['image_version']) as { name?: string; of?: { name?: string } } | null
  return (
    <div className="service-side">
      <span className="muted">{title}</span>
      <strong>{String(version['name'])}</strong>
      <StateTag state={String(version['state'])} />
      <span className="num" title={t('service.wantedReady')}>{`${Number(version['replicas'])}/${Number(version['ready'])}`}</span>
      {made && <span className="muted">{`${made.of?.name ?? ''} ${made.name ?? ''}`}</span>}
    </div>
  )
}

export function ServicePage({ kind, place, item }: PageProps) {
  const i18n = useI18n()
  const { t, w } = i18n
  const { session, project, kind: byName } = useApp()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open | null>(null)
  const versionKind = byName('service_version')
  const keyKind = byName('service_key')
  const parent = { kind, id: item.id }
  const versions = allItems(useList(versionKind ?? kind, versionKind ? { parent } : place, { sort: '-number' }).data)
  const of = (role: string) => versions.find((one) => one['role'] === role)
  const canary = of('canary')
  const model = (of('production') ?? canary)?.['model_version'] != null
  const allowed = kind.actions.filter((a) => a.on === 'item' && a.method === 'POST' && may(session, a.permission, project?.id))
  const fits = allowed.filter((a) => (a.name === 'switch' ? canary !== undefined : a.name === 'start' ? item['state'] === 'stopped' : a.name === 'stop' ? item['state'] !== 'stopped' : a.name !== 'predict'))
  const swap = fits.find((a) => a.name === 'switch')
  const mayTry = model && isServing(item) && may(session, 'service.invoke', project?.id)
  // What is stopped is started; what has no version gets one.
  const next = mayTry ? undefined : fits.find((a) => a.name === (item['state'] === 'stopped' ? 'start' : 'deploy'))
  const [mayUpdate, mayDelete] = [offers(session, kind, 'update', project?.id), offers(session, kind, 'delete', project?.id)]
  const [edit, remove] = [useCallback(() => setOpen({ what: 'edit', item }), [item]), useCallback(() => setOpen({ what: 'delete', item }), [item])]
  useObjectKeys(mayUpdate ? edit : null, mayDelete ? remove : null)
  const menu = [
    ...(mayUpdate ? [{ key: 'edit', label: t('object.edit') }] : []),
    ...fits.filter((a) => a !== swap && a !== next).map((a) => ({ key: a.name, label: w(a.title), danger: a.danger })),
    ...(mayDelete ? [{ key: 'delete', label: t('object.delete'), danger: true }] : []),
  ]
  const reason = reasonOf(item, i18n)
  return (
    <ComputePage
      kind={kind} item={item}
      head={<><StateTag state={String(item['state'])} /><span className="num muted" title={t('service.wantedReady')}>{String(item['production'] ?? '')}</span></>}
      note={<>
        {reason && <p className="note reason">{reason}</p>}
        {typeof item['description'] === 'string' && item['description'] !== '' && <p className="lead pre">{item['description']}</p>}
      </>}
      buttons={
        <>
          {swap && <Button onClick={() => setOpen({ what: swap, item })}>{w(swap.title)}</Button>}
          {next && <Button type="primary" onClick={() => setOpen({ what: next, item })}>{w(next.title)}</Button>}
          {mayTry && <Button type="primary" onClick={() => void navigate('?tab=try')}>{t('try.title')}</Button>}
          <MoreMenu entries={menu} onPick={(key) => setOpen({ what: fits.find((a) => a.name === key) ?? (key as 'edit' | 'delete'), item })} />
        </>
      }
      tabs={[
        {
          name: 'traffic', title: t('service.traffic'),
          content: () => (
            <>
              <div className="service-sides">
                <Side version={of('production')} title={t('service.role.production')} />
                <Side version={canary} title={t('service.role.canary')} />
                {canary && <Share item={item} may={offers(session, kind, 'update', project?.id)} />}
              </div>
              <Golden item={item} canary={canary} />
              <TrafficView service={item.id} versions={versions} />
              {typeof item['address'] === 'string' && <Address service={item.id} address={item['address']} model={model} />}
            </>
          ),
        },
        ...(model && may(session, 'service.invoke', project?.id) ? [{ name: 'try', title: t('try.title'), content: () => <TryService service={item.id} /> }] : []),
        ...(versionKind ? [{ name: 'versions', title: w(versionKind.titles), content: () => <ListView kind={versionKind} place={{ parent }} /> }] : []),
        { name: 'interface', title: t('interface.title'), content: () => <Interface service={item.id} /> },
        ...(versions.length > 0 ? [{ name: 'lineage', title: t('lineage.title'), content: () => <ServiceLineage versions={versions} /> }] : []),
        { name: 'replicas', title: t('service.replicas'), content: () => <Replicas service={item.id} /> },
        { name: 'log', title: t('job.log'), content: () => <ServiceLog service={item.id} /> },
        { name: 'events', title: t('job.events'), content: () => <ServiceEvents service={item.id} /> },
        ...(keyKind && offers(session, keyKind, 'list', project?.id) ? [{ name: 'keys', title: w(keyKind.titles), content: () => <ListView kind={keyKind} place={{ parent }} /> }] : []),
      ]}
      aside={<AsidePart title={t('service.settings')}><AsideFacts item={item} of={[{ kind, item, without: told }]} /></AsidePart>}
    >
      <Dialogs kind={kind} place={place} open={open} onClose={() => setOpen(null)} onDeleted={() => void navigate(listUrl(kind, project) ?? '/', { replace: true })} />
    </ComputePage>
  )
}
