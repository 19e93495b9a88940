import { Button, Select } from 'antd'
import { useEffect, useRef, useState, type ComponentType } from 'react'
import { useApp } from '../../../app/context'
import type { Ref } from '../../../api/kinds'
import type { EditProps, ShowProps } from '../../../components/editors'
import '../compute.css'
import { mountOf, useFormAround } from '../../../components/formContext'
import { RefLink } from '../../../components/FieldValue'
import { Icon } from '../../../components/Icon'
import { isRef, nameOf } from '../../../components/names'
import { RefSelect } from '../../../components/RefSelect'
import { useI18n } from '../../../i18n'
import { useVersionChoices } from '../../datasets/Versions'

interface PickProps {
  id?: string
  kindName: string
  value: Ref | null
  onChange: (value: Ref | null) => void
}

/** An object, then one of its versions; the newest unless another is chosen. */
function VersionPick({ id, kindName, value, onChange }: PickProps) {
  const { t, w, wl } = useI18n()
  const { kind: byName } = useApp()
  const kind = byName(kindName)
  const parentKind = byName(kind?.parent ?? '')
  const [parent, setParent] = useState<Ref | null>(value?.of ?? null)
  if (!kind || !parentKind) return null
  return (
    <div className="row version-pick">
      <RefSelect
        id={id} kindName={parentKind.name} value={parent} clearable aria-label={w(parentKind.title)} placeholder={t('pick.choose', { what: wl(parentKind.title) })}
        onChange={(next) => {
          setParent(next)
          onChange(null)
        }}
      />
      {parent && <Choices key={parent.id} kindName={kindName} parent={parent} value={value} onChange={onChange} />}
    </div>
  )
}

function Choices({ kindName, parent, value, onChange }: PickProps & { parent: Ref }) {
  const { t } = useI18n()
  const { kind: byName } = useApp()
  const kind = byName(kindName)
  const parentKind = byName(kind?.parent ?? '')
  if (!kind || !parentKind) throw new Error(`no kind ${kindName}`)
  const choices = useVersionChoices(kind, parentKind, parent.id)
  const refs = (choices.data ?? []).map((item): Ref => ({ id: item.id, name: nameOf(kind, item), of: parent }))
  const newest = refs[0]
  useEffect(() => {
    if (!value && newest) onChange(newest)
    // Once, when the versions are known.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [newest?.id])
  return (
    <Select
      className="version-number" aria-label={t('pick.version')} value={value?.id ?? null} loading={choices.isFetching} placeholder={t('pick.version')}
      notFoundContent={t(choices.isFetching ? 'list.loading' : 'versions.none')} options={refs.map((r) => ({ value: r.id, label: r.name }))}
      onChange={(chosen: number) => onChange(refs.find((r) => r.id === chosen) ?? null)}
    />
  )
}

/** Where the container has it. The field is the one that the editor's id ends with. */
function Mount({ id, value }: { id: string; value: Ref | null }) {
  const { fields } = useFormAround()
  const path = mountOf(fields.find((f) => id.endsWith(`-${f.name}`)), value)
  return path ? <code className="mount">{path}</code> : null
}

/** The editor of a reference to one version. */
export function versionEdit(kindName: string): ComponentType<EditProps> {
  return function VersionEdit({ id, value, onChange }: EditProps) {
    const now = isRef(value) ? value : null
    return <div className="mounted"><VersionPick id={id} kindName={kindName} value={now} onChange={onChange} /><Mount id={id} value={now} /></div>
  }
}

/** The editor of a list of versions. */
export function versionsEdit(kindName: string): ComponentType<EditProps> {
  return function VersionsEdit({ id, value, onChange }: EditProps) {
    const { t, wl } = useI18n()
    const { kind: byName } = useApp()
    const title = wl(byName(byName(kindName)?.parent ?? '')?.title)
    const [rows, setRows] = useState<{ key: number; ref: Ref | null }[]>(() => (Array.isArray(value) ? value.filter(isRef) : []).map((ref, key) => ({ key, ref })))
    // The newest versions of two rows may become known at once: each change is made to what the other has left.
    const latest = useRef(rows)
    const next = useRef(rows.length)
    const change = (make: (old: typeof rows) => typeof rows) => {
      latest.current = make(latest.current)
      setRows(latest.current)
      onChange(latest.current.flatMap((row) => (row.ref ? [row.ref] : [])))
    }
    return (
      <div className="env-rows">
        {rows.map((row, i) => (
          <div key={row.key} className="mounted">
            <VersionPick kindName={kindName} value={row.ref} onChange={(ref) => change((old) => old.map((r) => (r.key === row.key ? { ...r, ref } : r)))} />
            <Mount id={id} value={row.ref} />
            <Button type="text" aria-label={t('pick.remove', { what: row.ref?.of?.name ?? `${title} ${i + 1}` })} icon={<Icon name="close" size={14} />} onClick={() => change((old) => old.filter((r) => r.key !== row.key))} />
          </div>
        ))}
        <div><Button id={id} size="small" icon={<Icon name="plus" size={12} />} onClick={() => { next.current += 1; change((old) => [...old, { key: next.current, ref: null }]) }}>{t('pick.add', { what: title })}</Button></div>
      </div>
    )
  }
}

export function VersionsShow({ value, refKind }: ShowProps) {
  const { t } = useI18n()
  const refs = Array.isArray(value) ? value.filter(isRef) : isRef(value) ? [value] : []
  if (refs.length === 0) return <span className="muted">{t('value.none')}</span>
  return <span className="version-links">{refs.map((ref) => <RefLink key={ref.id} kindName={refKind ?? ''} value={ref} />)}</span>
}
