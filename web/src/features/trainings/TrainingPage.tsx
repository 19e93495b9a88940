import { useMutation, useQueryClient } from '@tanstack/react-query'
import { App, Button, Dropdown } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { childUrl, listUrl } from '../../app/links'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { invalidate, itemPath, useCount } from '../../api/objects'
import { may, offers } from '../../api/session'
import { useOnce, useShown } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { ComputePage } from '../jobs/ComputePage'
import { Dialogs, type Open } from '../objects/Dialogs'
import { Facts } from '../objects/ObjectTabs'
import type { PageProps } from '../objects/special'
import { RunTable } from '../runs/RunTable'

export function TrainingPage({ kind, place, item }: PageProps) {
  const i18n = useI18n()
  const { t, w } = i18n
  const { session, project, kind: byName } = useApp()
  const { message } = App.useApp()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open | null>(null)
  const instances = byName('training_instance')
  const start = kind.actions.find((a) => a.name === 'start')
  const parent = { kind, id: item.id }
  const count = useCount(instances ?? kind, instances ? { parent } : place, instances !== undefined)
  const run = useMutation({
    mutationFn: () => request<Item>(`${itemPath(kind, place, item.id)}/start`, { method: 'POST', body: {} }),
    onSuccess: () => invalidate(client, 'training_instance'),
    onError: (error) => void message.error(problemText(error, i18n)),
  })
  const shown = useShown()
  const begin = useOnce(async () => {
    const made = await run.mutateAsync().catch(() => null)
    const url = made && instances && childUrl(instances, made.id, kind, item.id, project)
    if (url && shown()) void navigate(url)
  })
  const rest = kind.actions.filter((a) => a !== start && a.on === 'item' && a.method === 'POST' && may(session, a.permission, project?.id))
  const menu = [
    ...rest.map((a) => ({ key: a.name, label: w(a.title), danger: a.danger })),
    ...(offers(session, kind, 'delete', project?.id) ? [{ key: 'delete', label: t('object.delete'), danger: true }] : []),
  ]
  return (
    <ComputePage
      kind={kind} item={item} head={null}
      note={typeof item['description'] === 'string' && item['description'] !== '' && <p className="lead pre">{item['description']}</p>}
      buttons={
        <>
          {start && may(session, start.permission, project?.id) && <Button type="primary" loading={run.isPending} onClick={() => void begin()}>{w(start.title)}</Button>}
          {offers(session, kind, 'update', project?.id) && <Button onClick={() => setOpen({ what: 'edit', item })}>{t('object.edit')}</Button>}
          {menu.length > 0 && (
            <Dropdown trigger={['click']} menu={{ items: menu, onClick: ({ key }) => setOpen({ what: rest.find((a) => a.name === key) ?? 'delete', item }) }}>
              <Button aria-label={t('object.more')} icon={<Icon name="more" />} />
            </Dropdown>
          )}
        </>
      }
      tabs={[
        ...(instances ? [{
          name: 'instances', title: w(instances.titles),
          content: () => (count.data === 0 ? <p className="note">{t('training.firstRun')}</p> : <RunTable key={item.id} kind={instances} training={item} />),
        }] : []),
        { name: 'overview', title: t('training.definition'), content: () => <Facts brief kind={{ ...kind, fields: kind.fields.filter((f) => f.name !== 'name' && f.name !== 'description') }} item={item} /> },
      ]}
    >
      <Dialogs kind={kind} place={place} open={open} onClose={() => setOpen(null)} onDeleted={() => void navigate(listUrl(kind, project) ?? '/', { replace: true })} />
    </ComputePage>
  )
}
