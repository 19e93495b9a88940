import { Button, Dropdown, Tooltip } from 'antd'
import { Suspense, type ReactNode } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import type { Action, Field, Item, Kind } from '../../api/kinds'
import { may as mayDo } from '../../api/session'
import { FieldValue, RefLink } from '../../components/FieldValue'
import { Icon } from '../../components/Icon'
import { nameOf } from '../../components/names'
import { Time } from '../../components/Time'
import { useI18n, type I18n } from '../../i18n'
import { fits } from './fits'
import { extraColumns } from './special'

export interface RowsProps {
  kind: Kind
  items: Item[]
  urlOf: (item: Item) => string | null
  may: (verb: 'update' | 'delete', item?: Item) => boolean
  onAct: (what: 'edit' | 'delete' | Action, item: Item) => void
  active: number
  hiddenFields?: readonly string[]
  sort: string
  onSort: (sort: string) => void
}

export interface Column {
  name: string
  title: string
  sort: boolean
  number: boolean
  first: boolean
  /** Whether it shows a field of the kind. */
  field?: boolean
  cell: (item: Item) => ReactNode
}

/** Where the order of the table is not the order of reading, or there are more columns than a page has room for. */
const order: Record<string, string[]> = {
  audit: ['at', 'user', 'verb', 'kind', 'name', 'project', 'address'], label_set: ['name', 'labels', 'description', 'public'],
  dataset: ['name', 'annotation_type', 'label_set', 'samples', 'annotated'], job: ['name', 'state', 'reason', 'spec', 'started_at'],
  environment: ['name', 'state', 'reason', 'spec', 'ends_at'], training: ['name', 'datasets', 'algorithm'],
  evaluation: ['name', 'state', 'reason', 'figures', 'model_version', 'dataset_version', 'part'],
  label_task: ['name', 'state', 'version', 'deadline'], task: ['name', 'type', 'state', 'problems', 'ended_at'],
}

/** The columns of a list: the kind's own, and by whom and when, unless the kind tells that itself. */
export function columnsOf(kind: Kind, i18n: I18n, urlOf: RowsProps['urlOf'], hidden: readonly string[] = []): Column[] {
  const { t, w } = i18n
  const listed = order[kind.name]?.flatMap((name) => kind.fields.filter((f) => f.name === name)) ?? kind.fields.filter((f, i) => f.list || i === 0)
  const shown = listed.filter((f) => !hidden.includes(f.name) && !f.secret)
  const columns = shown.map((field, i): Column => ({
    name: field.name,
    title: w(field.title),
    sort: field.sort,
    number: field.type === 'int' || field.type === 'real',
    first: i === 0,
    field: true,
    cell: (item) => cell(kind, field, item, i === 0, urlOf),
  }))
  for (const { title, after, Cell } of extraColumns[kind.name] ?? []) {
    const before = columns.findIndex((column) => column.name === after)
    columns.splice(before < 0 ? 2 : before + 1, 0, { name: title, title: t(title), sort: false, number: false, first: false, cell: (item) => <Suspense fallback={null}><Cell kind={kind} item={item} /></Suspense> })
  }
  if (!kind.fields.some((f) => f.name === 'at')) {
    if (kind.scope !== 'own') columns.push({ name: 'created_by', title: t('object.createdBy'), sort: false, number: false, first: false, cell: (item) => item.created_by ? <RefLink kindName="user" value={item.created_by} /> : <span className="muted">{t('value.none')}</span> })
    columns.push({ name: 'created_at', title: t('object.created'), sort: true, number: false, first: false, cell: (item) => <Time at={item.created_at} /> })
  }
  return columns
}

function cell(kind: Kind, field: Field, item: Item, first: boolean, urlOf: RowsProps['urlOf']): ReactNode {
  const url = first ? urlOf(item) : null
  const value = <FieldValue field={field} kindName={kind.name} value={item[field.name]} item={item} short />
  return url && field.type !== 'ref' ? <Link className="row-name" to={url}>{value}</Link> : value
}

/** What can be done with one row: icons for the two common things, a menu for the rest. */
export function RowActions({ kind, item, may, onAct }: Pick<RowsProps, 'kind' | 'may' | 'onAct'> & { item: Item }) {
  const { t, w } = useI18n()
  const { session, project } = useApp()
  const name = nameOf(kind, item)
  const actions = kind.actions.filter((a) => a.on === 'item' && a.method === 'POST' && fits(kind, a, item) && mayDo(session, a.permission, item.project?.id ?? project?.id))
  const readOnly = item['built_in'] === true
  const del = kind.name === 'session' ? t('sessions.revoke') : t('object.delete')
  return (
    <span className="row-actions">
      {may('update') && !readOnly && (
        <Tooltip title={t('object.edit')}>
          <Button type="text" size="small" aria-label={`${t('object.edit')}: ${name}`} icon={<Icon name="edit" size={14} />} onClick={() => onAct('edit', item)} />
        </Tooltip>
      )}
      {may('delete', item) && !readOnly && (
        <Tooltip title={del}>
          <Button type="text" size="small" aria-label={`${del}: ${name}`} icon={<Icon name={kind.name === 'session' ? 'out' : 'trash'} size={14} />} onClick={() => onAct('delete', item)} />
        </Tooltip>
      )}
      {actions.length > 0 && (
        <Dropdown trigger={['click']} menu={{ items: actions.map((a) => ({ key: a.name, label: w(a.title), danger: a.danger })), onClick: ({ key }) => { const action = actions.find((a) => a.name === key); if (action) onAct(action, item) } }}>
          <Button type="text" size="small" aria-label={t('list.rowActions', { name })} icon={<Icon name="more" size={14} />} />
        </Dropdown>
      )}
    </span>
  )
}
