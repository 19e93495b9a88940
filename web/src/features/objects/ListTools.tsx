import { Button, Input, Select, Switch } from 'antd'
import { forwardRef, useEffect, useImperativeHandle, useRef, useState, type ReactNode } from 'react'
import type { Field, Kind } from '../../api/kinds'
import { useDebounced } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { RefSelect } from '../../components/RefSelect'
import { useI18n } from '../../i18n'
import { TextFacet } from '../audit/TextFacet'
import { choicesOf, facetFields, isNarrowed, textFacets } from './filters'

interface Props {
  kind: Kind
  params: URLSearchParams
  onChange: (values: Record<string, string | null>) => void
  narrow: boolean
  children: ReactNode
}

export const ListTools = forwardRef<HTMLInputElement, Props>(function ListTools({ kind, params, onChange, narrow, children }, ref) {
  const { t, wl } = useI18n()
  const [shown, setShown] = useState(false)
  const facets = [...textFacets(kind), ...facetFields(kind)]
  const searchable = kind.fields.some((f) => f.search)
  const mine = kind.scope !== 'own' && kind.verbs.includes('create')
  const filters = facets.length > 0 || mine
  return (
    <div className="tools" role="search">
      {searchable && <SearchBox ref={ref} value={params.get('q') ?? ''} onChange={(q) => onChange({ q })} label={t('list.search', { titles: wl(kind.titles) })} />}
      {narrow && filters && (
        <Button onClick={() => setShown(!shown)} aria-expanded={shown}>{t('list.filters')}</Button>
      )}
      {(!narrow || shown) && (
        <>
          {facets.map((field) => <Facet key={field.name} kindName={kind.name} field={field} params={params} onChange={onChange} />)}
          {mine && (
            <label className="switch">
              <Switch size="small" checked={params.get('mine') === '1'} onChange={(on) => onChange({ mine: on ? '1' : null })} />
              {t('list.mine')}
            </label>
          )}
          {isNarrowed(params) && (
            <Button type="text" icon={<Icon name="close" size={12} />} onClick={() => onChange(Object.fromEntries([...params.keys()].filter((k) => k !== 'tab' && k !== 'sort').map((k) => [k, null])))}>
              {t('list.clear')}
            </Button>
          )}
        </>
      )}
      <span className="grow" />
      {children}
    </div>
  )
})

const SearchBox = forwardRef<HTMLInputElement, { value: string; onChange: (q: string) => void; label: string }>(function SearchBox({ value, onChange, label }, ref) {
  const [text, setText] = useState(value)
  const settled = useDebounced(text, 200)
  const sent = useRef(value)
  const own = useRef(new Set<string>())
  const box = useRef<HTMLInputElement | null>(null)
  useImperativeHandle(ref, () => box.current as HTMLInputElement)
  useEffect(() => {
    if (settled.trim() !== sent.current) {
      sent.current = settled.trim()
      own.current.add(sent.current)
      onChange(sent.current)
    }
  }, [settled, onChange])
  useEffect(() => {
    // What was typed before comes back through the address, perhaps when more has been typed.
    if (value === sent.current) own.current.clear()
    if (value === sent.current || own.current.has(value)) return
    // The address changed by other means: back, "clear filters".
    sent.current = value
    setText(value)
  }, [value])
  return (
    <Input
      ref={(input) => { box.current = input?.input ?? null }}
      className="search" type="search" allowClear prefix={<Icon name="search" size={14} />} suffix={text ? undefined : <kbd>/</kbd>}
      aria-label={label} placeholder={label} value={text} onChange={(e) => setText(e.target.value)}
      onKeyDown={(e) => { if (e.key === 'Escape') { setText(''); box.current?.blur() } }}
    />
  )
})

function Facet({ kindName, field, params, onChange }: { kindName: string; field: Field; params: URLSearchParams; onChange: Props['onChange'] }) {
  const { t, w } = useI18n()
  const title = w(field.title)
  const label = t('list.filterBy', { title })
  if (field.type === 'time') {
    return (
      <>
        {(['from', 'to'] as const).map((side) => (
          <label key={side} className="switch">
            {t(`list.${side}`)}
            <Input type="date" className="date" value={params.get(`${field.name}.${side}`) ?? ''} onChange={(e) => onChange({ [`${field.name}.${side}`]: e.target.value })} />
          </label>
        ))}
      </>
    )
  }
  if (field.type === 'ref') {
    const [id, ...name] = (params.get(field.name) ?? '').split(':')
    return (
      <RefSelect
        className="facet" kindName={field.ref ?? ''} aria-label={label} placeholder={title} clearable
        value={id ? { id: Number(id), name: name.join(':') || `#${id}` } : null}
        onChange={(ref) => onChange({ [field.name]: ref ? `${ref.id}:${ref.name}` : null })}
      />
    )
  }
  if (field.type === 'text' || field.type === 'int') return <TextFacet kindName={kindName} field={field} label={label} title={title} params={params} onChange={onChange} />
  const options = field.type === 'bool'
    ? [{ value: 'true', label: `${title}: ${t('form.yes')}` }, { value: 'false', label: `${title}: ${t('form.no')}` }]
    : (field.choices ?? []).map((c) => ({ value: c.value, label: w(c.title) }))
  const now = params.get(field.name)
  if (field.type === 'choice' && now?.includes(',')) options.unshift({ value: now, label: choicesOf(now).map((one) => options.find((o) => o.value === one)?.label ?? one).join(', ') })
  return <Select className="facet" aria-label={label} placeholder={title} allowClear value={now} options={options} onChange={(v: string | undefined) => onChange({ [field.name]: v ?? null })} popupMatchSelectWidth={false} />
}
