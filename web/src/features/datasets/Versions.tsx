import { useQuery } from '@tanstack/react-query'
import { App, Button, Input, Select } from 'antd'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { versionUrl } from '../../app/links'
import type { Item, Kind } from '../../api/kinds'
import { allItems, listPage, useList, useSave } from '../../api/objects'
import { offers } from '../../api/session'
import { formatBytes } from '../../components/format'
import { FormDialog } from '../../components/FormDialog'
import { useShown } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { nameOf } from '../../components/names'
import { ProblemNote } from '../../components/ProblemNote'
import { Empty, ErrorState } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { MoreRows } from '../objects/MoreRows'
import type { SpecialProps } from '../objects/special'
import './data.css'

export function StateTag({ item }: { item: Item }) {
  const { t } = useI18n()
  const published = item['state'] === 'published' || item['published'] === true
  return <span className={published ? 'tag tag-ok' : 'tag'}>{t(published ? 'versions.published' : item['state'] === 'publishing' ? 'versions.publishing' : item['state'] === 'reviewing' ? 'versions.reviewing' : 'versions.draft')}</span>
}

export function useVersionKind(parent: Kind): Kind | undefined {
  return useApp().kinds.find((k) => k.scope === 'child' && k.parent === parent.name && k.plural === 'versions')
}

/** Versions of an object, as the choices of a select. */
export function useVersionChoices(kind: Kind | undefined, parentKind: Kind, parent: number) {
  return useQuery({
    queryKey: ['objects', kind?.name ?? '', 'choices', parent],
    queryFn: async ({ signal }) => (kind ? (await listPage(kind, { parent: { kind: parentKind, id: parent } }, { sort: kind.fields.some((f) => f.name === 'number') ? '-number' : '-pushed_at', limit: 200 }, signal)).items : []),
    enabled: kind !== undefined,
  })
}

function Rows({ kind, parentKind, parent, items }: { kind: Kind; parentKind: Kind; parent: Item; items: Item[] }) {
  const { t, n, w } = useI18n()
  const { project } = useApp()
  const data = kind.name === 'dataset_version'
  return (
    <div className="table-box">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{w(kind.title)}</th>
            <th scope="col">{t('versions.state')}</th>
            <th scope="col" className="right">{t(data ? 'tab.samples' : 'tab.files')}</th>
            {data && <th scope="col" className="right">{t('sampleState.annotated')}</th>}
            <th scope="col" className="right">{t('versions.size')}</th>
            <th scope="col">{t('versions.description')}</th>
            <th scope="col">{t('object.created')}</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.id}>
              <td className="first"><Link className="row-name" to={versionUrl(parentKind, parent.id, Number(item['number']), project)}>{nameOf(kind, item)}</Link></td>
              <td><StateTag item={item} /></td>
              <td className="right">{n(Number(item[data ? 'samples' : 'files']))}</td>
              {data && <td className="right">{n(Number(item['annotated']))}</td>}
              <td className="right">{formatBytes(Number(item['bytes']))}</td>
              <td title={String(item['description'] ?? '')}>{String(item['description'] ?? '')}</td>
              <td><Time at={item.created_at} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export function NewButton({ kind, parentKind, parent, small }: { kind: Kind; parentKind: Kind; parent: Item; small?: boolean }) {
  const { t } = useI18n()
  const { session, project } = useApp()
  const [open, setOpen] = useState(false)
  if (!offers(session, kind, 'create', project?.id)) return null
  return (
    <>
      <Button type={small ? 'text' : 'primary'} size={small ? 'small' : undefined} icon={<Icon name="plus" size={small ? 12 : 14} />} onClick={() => setOpen(true)}>{t('versions.new')}</Button>
      {open && <NewVersion kind={kind} parentKind={parentKind} parent={parent} onClose={() => setOpen(false)} />}
    </>
  )
}

function NewVersion({ kind, parentKind, parent, onClose }: { kind: Kind; parentKind: Kind; parent: Item; onClose: () => void }) {
  const { t } = useI18n()
  const { project } = useApp()
  const { message } = App.useApp()
  const navigate = useNavigate()
  const choices = useVersionChoices(kind, parentKind, parent.id)
  const [from, setFrom] = useState<number | null>(null)
  const [description, setDescription] = useState('')
  const save = useSave(kind, { parent: { kind: parentKind, id: parent.id } })
  const shown = useShown()
  const submit = async () => {
    const begun = window.location.pathname
    try {
      const made = await save.mutateAsync({ values: { ...(from === null ? {} : { from }), ...(description.trim() ? { description: description.trim() } : {}) } })
      void message.success(t('object.createdToast', { name: nameOf(kind, made) }))
      if (shown()) onClose()
      // The page below may show the new version before the answer is here, and this form is gone with what it showed before.
      if (window.location.pathname === begun) void navigate(versionUrl(parentKind, parent.id, Number(made['number']), project))
    } catch {
      // Shown from save.error.
    }
  }
  return (
    <FormDialog title={t('versions.new')} dirty={from !== null || description !== ''} busy={save.isPending} submitText={t('form.create')} onClose={onClose} onSubmit={() => void submit()} error={save.error ? <ProblemNote error={save.error} /> : null}>
      <div className="field">
        <label htmlFor="version-from">{t('versions.from')}</label>
        <Select id="version-from" value={from ?? 0} onChange={(id: number) => setFrom(id === 0 ? null : id)} options={[{ value: 0, label: t('versions.empty') }, ...(choices.data ?? []).map((v) => ({ value: v.id, label: nameOf(kind, v) }))]} />
        <p className="field-help">{t('versions.fromHelp')}</p>
      </div>
      <div className="field">
        <label htmlFor="version-description">{t('versions.description')}</label>
        <Input.TextArea id="version-description" rows={3} maxLength={500} value={description} onChange={(e) => setDescription(e.target.value)} />
      </div>
    </FormDialog>
  )
}

export function AllVersions({ kind: parentKind, item: parent }: SpecialProps) {
  const { t } = useI18n()
  const kind = useVersionKind(parentKind)
  return kind ? <All kind={kind} parentKind={parentKind} parent={parent} /> : <Empty title={t('versions.none')} />
}

function All({ kind, parentKind, parent }: { kind: Kind; parentKind: Kind; parent: Item }) {
  const { t } = useI18n()
  const list = useList(kind, { parent: { kind: parentKind, id: parent.id } }, { sort: '-number' })
  const items = allItems(list.data)
  return (
    <section>
      <div className="section-head"><span className="grow" /><NewButton kind={kind} parentKind={parentKind} parent={parent} /></div>
      {list.error && items.length === 0 ? <ErrorState error={list.error} onRetry={() => void list.refetch()} /> : items.length === 0 && !list.isPending ? <Empty title={t('versions.none')} /> : <Rows kind={kind} parentKind={parentKind} parent={parent} items={items} />}
      <MoreRows list={list} />
    </section>
  )
}
