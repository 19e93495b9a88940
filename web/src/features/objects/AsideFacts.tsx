import type { ReactNode } from 'react'
import type { Field, Item, Kind } from '../../api/kinds'
import { FieldValue, RefLink } from '../../components/FieldValue'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { isEmpty } from './empty'
import { isBlock } from './isBlock'

interface Props {
  item: Item
  /** Whose fields are told, in this order: those that say something. */
  of: readonly { kind: Kind; item: Item; without: readonly string[] }[]
  /** Rows between the fields and who made it. */
  children?: ReactNode
}

/** What is known about an object, in the column beside it: what needs room stands below the rest. */
export function AsideFacts({ item, of, children }: Props) {
  const { t, w } = useI18n()
  const shown = of.flatMap((one) => one.kind.fields
    .filter((f) => !f.secret && !one.without.includes(f.name) && !isEmpty(one.item[f.name]))
    .map((field) => ({ ...one, field })))
  const value = ({ kind, item: from, field }: { kind: Kind; item: Item; field: Field }) => <FieldValue field={field} kindName={kind.name} value={from[field.name]} item={from} />
  const blocks = shown.filter(({ kind, field }) => isBlock(kind, field))
  return (
    <>
      <dl className="aside-facts">
        {shown.filter(({ kind, field }) => !isBlock(kind, field)).map((one) => <div key={`${one.kind.name}-${one.field.name}`}><dt>{w(one.field.title)}</dt><dd>{value(one)}</dd></div>)}
        {children}
        <div><dt>{t('object.createdBy')}</dt><dd>{item.created_by ? <RefLink kindName="user" value={item.created_by} /> : t('value.none')}</dd></div>
        <div><dt>{t('object.created')}</dt><dd><Time at={item.created_at} /></dd></div>
        <div><dt>{t('object.id')}</dt><dd className="num">{item.id}</dd></div>
      </dl>
      {blocks.length > 0 && <div className="aside-blocks">{blocks.map((one) => <div key={one.field.name}><h3>{w(one.field.title)}</h3>{value(one)}</div>)}</div>}
    </>
  )
}
