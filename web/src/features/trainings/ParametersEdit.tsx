import { useQuery } from '@tanstack/react-query'
import { Input } from 'antd'
import { useState } from 'react'
import { request, type Schema } from '../../api/client'
import type { EditProps } from '../../components/editors'
import { useFormAround } from '../../components/formContext'
import { isRef } from '../../components/names'
import { useI18n } from '../../i18n'
import { ParameterField } from './ParameterField'
import { given, tunable } from './plan'

type Values = Record<string, unknown>

function read(value: unknown): Values {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Values) : {}
}

/** Values of what the chosen function of the chosen algorithm declares; JSON where it declares nothing. */
export function ParametersEdit(props: EditProps) {
  const { t } = useI18n()
  const { values } = useFormAround()
  const algorithm = isRef(values['algorithm']) ? values['algorithm'] : null
  const declared = useQuery({
    queryKey: ['objects', 'algorithm_version', 'functions', algorithm?.id ?? 0],
    queryFn: ({ signal }) => request<Schema<'AlgorithmFunctions'>>(`/algorithm-sets/${algorithm?.of?.id ?? 0}/versions/${algorithm?.id ?? 0}/functions`, { signal }),
    enabled: algorithm?.of !== undefined,
    retry: false,
  })
  const parameters = tunable(declared.data?.functions.find((one) => one.name === (values['function'] ?? 'train'))?.parameters ?? [])
  const now = read(props.value)
  if (parameters.length === 0) return <Plain key={algorithm?.id ?? 0} {...props} hint={t(algorithm ? 'parameters.none' : 'parameters.noAlgorithm')} />
  const change = (name: string, value: unknown) => {
    const next = given(parameters, { ...now, [name]: value })
    props.onInvalid(null)
    props.onChange(Object.keys(next).length > 0 ? next : null)
  }
  return <div className="sub-form members">{parameters.map((one) => <ParameterField key={one.name} parameter={one} value={now[one.name]} onChange={(value) => change(one.name, value)} />)}</div>
}

function Plain({ id, value, onChange, onInvalid, hint }: EditProps & { hint: string }) {
  const { t } = useI18n()
  const [text, setText] = useState(() => (value === null || value === undefined ? '' : JSON.stringify(value, null, 2)))
  const change = (next: string) => {
    setText(next)
    try {
      onChange(next.trim() === '' ? null : JSON.parse(next))
      onInvalid(null)
    } catch (error) {
      onInvalid(t('rule.json', { detail: error instanceof Error ? error.message : '' }))
    }
  }
  return (
    <>
      <Input.TextArea id={id} aria-label={t('parameters.json')} className="mono" value={text} onChange={(e) => change(e.target.value)} autoSize={{ minRows: 2, maxRows: 12 }} placeholder={t('form.jsonHint')} />
      <p className="field-help">{hint}</p>
    </>
  )
}
