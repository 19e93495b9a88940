import { Select } from 'antd'
import { useApp } from '../../app/context'
import type { Field } from '../../api/kinds'
import { useI18n } from '../../i18n'
import { useVerbTitle } from './verbs'

interface Props {
  kindName: string
  field: Field
  label: string
  title: string
  value: string | null
  onChange: (values: Record<string, string | null>) => void
}

const verbs = ['create', 'update', 'delete', 'sign-in', 'sign-out']

/** The audit's kind and verb are texts to the server, but few values to people. */
export function TextFacet({ field, label, title, value, onChange }: Props) {
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
      onChange={(v: string | undefined) => onChange({ [field.name]: v ?? null })} popupMatchSelectWidth={false}
    />
  )
}
