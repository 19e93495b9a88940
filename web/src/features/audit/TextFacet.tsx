import { Select } from 'antd'
import { useApp } from '../../app/context'
import type { Field } from '../../api/kinds'
import { RefSelect } from '../../components/RefSelect'
import { useI18n } from '../../i18n'
import { useVerbTitle } from './verbs'

interface Props {
  kindName: string
  field: Field
  label: string
  title: string
  params: URLSearchParams
  onChange: (values: Record<string, string | null>) => void
}

const verbs = ['create', 'update', 'delete', 'sign-in', 'sign-out']

/** The object itself: chosen by its name once its kind is. */
function ObjectFacet({ label, title, params, onChange }: Props) {
  const { kind: byName } = useApp()
  const kind = byName(params.get('kind') ?? '')
  const [id, ...name] = (params.get('object') ?? '').split(':')
  if (!kind || kind.scope === 'child' || !kind.verbs.includes('list')) return null
  return (
    <RefSelect
      className="facet" kindName={kind.name} aria-label={label} placeholder={title} clearable
      value={id ? { id: Number(id), name: name.join(':') || `#${id}` } : null}
      onChange={(ref) => onChange({ object: ref ? `${ref.id}:${ref.name}` : null })}
    />
  )
}

/** The audit's kind and verb are texts to the server, but few values to people. */
export function TextFacet(props: Props) {
  return props.field.name === 'object' ? <ObjectFacet {...props} /> : <ChoiceFacet {...props} />
}

function ChoiceFacet({ field, label, title, params, onChange }: Props) {
  const value = params.get(field.name)
  const { w } = useI18n()
  const verbTitle = useVerbTitle()
  const { kinds } = useApp()
  const actions = kinds.flatMap((k) => k.actions.filter((a) => a.method === 'POST').map((a) => a.name))
  const options = field.name === 'kind'
    ? kinds.map((k) => ({ value: k.name, label: w(k.title) }))
    : [...new Set([...verbs, ...actions])].map((verb) => ({ value: verb, label: verbTitle(verb) }))
  return (
    <Select
      className="facet" aria-label={label} placeholder={title} allowClear showSearch optionFilterProp="label" value={value} options={options}
      onChange={(v: string | undefined) => onChange(field.name === 'kind' ? { kind: v ?? null, object: null } : { [field.name]: v ?? null })} popupMatchSelectWidth={false}
    />
  )
}
