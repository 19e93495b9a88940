import { Button, Checkbox, Input, InputNumber, Select } from 'antd'
import { useRef, type ReactNode } from 'react'
import { Icon } from '../../components/Icon'
import { useI18n, type Key } from '../../i18n'
import { attributeFaults, attributeTypes, mostAttributes, retyped, type Attribute, type AttributeFault, type AttributeMember } from './attributes'

/** The attributes of one label, each a row of fields with what is wrong beside them. */
export function AttributesEdit({ label, value, onChange }: { label: string; value: readonly Attribute[]; onChange: (value: Attribute[]) => void }) {
  const { t } = useI18n()
  const box = useRef<HTMLDivElement>(null)
  const wrong = attributeFaults(value)
  const add = () => {
    onChange([...value, { name: '', type: 'choice', choices: [] }])
    requestAnimationFrame(() => box.current?.querySelector<HTMLInputElement>('fieldset:last-of-type input')?.focus())
  }
  return (
    <div ref={box} className="label-attributes" role="group" aria-label={t('attributes.of', { name: label })}>
      {value.map((a, i) => (
        <AttributeFields
          key={i} id={`attribute-${label}-${i}`} n={i + 1} attribute={a} faults={wrong.filter((f) => f.at === i)}
          onChange={(next) => onChange(value.map((one, k) => (k === i ? next : one)))} onRemove={() => onChange(value.filter((_, k) => k !== i))}
        />
      ))}
      <div><Button size="small" disabled={value.length >= mostAttributes} icon={<Icon name="plus" size={12} />} onClick={add}>{t('attributes.add')}</Button></div>
    </div>
  )
}

function AttributeFields({ id, n, attribute: a, faults, onChange, onRemove }: { id: string; n: number; attribute: Attribute; faults: readonly AttributeFault[]; onChange: (a: Attribute) => void; onRemove: () => void }) {
  const { t } = useI18n()
  const name = a.name || t('labels.unnamed')
  const error = (member: AttributeMember) => faults.find((f) => f.member === member)
  const field = (member: AttributeMember | 'type' | 'zh', title: string, control: ReactNode) => {
    const fault = member === 'type' || member === 'zh' ? undefined : error(member)
    return (
      <div className={`field attribute-${member}`}>
        <label htmlFor={`${id}-${member}`}>{title}</label>
        {control}
        {fault && <p id={`${id}-${member}-error`} className="field-error">{t(`attributes.rule.${fault.rule}` as Key)}</p>}
      </div>
    )
  }
  const status = (member: AttributeMember) => (error(member) ? ('error' as const) : undefined)
  const titled = (language: 'en' | 'zh', text: string) => onChange({ ...a, title: { ...a.title, [language]: text } })
  return (
    <fieldset className="attribute">
      <legend>{t('attributes.one', { n, name })}</legend>
      {field('name', t('attributes.name'), <Input id={`${id}-name`} value={a.name} maxLength={200} status={status('name')} aria-describedby={error('name') && `${id}-name-error`} autoComplete="off" onChange={(e) => onChange({ ...a, name: e.target.value })} />)}
      {field('type', t('attributes.type'), <Select id={`${id}-type`} value={a.type} options={attributeTypes.map((type) => ({ value: type, label: t(`attributes.type.${type}` as Key) }))} onChange={(type) => onChange(retyped(a, type))} />)}
      {field('title', t('attributes.titleEn'), <Input id={`${id}-title`} value={a.title?.en ?? ''} maxLength={200} status={status('title')} autoComplete="off" onChange={(e) => titled('en', e.target.value)} />)}
      {field('zh', t('attributes.titleZh'), <Input id={`${id}-zh`} value={a.title?.zh ?? ''} maxLength={200} status={status('title')} autoComplete="off" onChange={(e) => titled('zh', e.target.value)} />)}
      {a.type === 'choice' && field('choices', t('attributes.choices'), (
        <Select
          id={`${id}-choices`} mode="tags" open={false} suffixIcon={null} tokenSeparators={[',', '，', '\n']} value={a.choices ?? []} status={status('choices')} placeholder={t('attributes.choicesHelp')}
          onChange={(choices: string[]) => onChange({ ...a, choices })}
        />
      ))}
      {field('default', t('attributes.default'), <DefaultEdit id={`${id}-default`} attribute={a} status={status('default')} onChange={(value) => onChange({ ...a, default: value })} />)}
      <div className="attribute-end">
        <Checkbox checked={a.required === true} onChange={(e) => onChange({ ...a, required: e.target.checked })}>{t('attributes.required')}</Checkbox>
        <Button type="text" size="small" aria-label={t('attributes.remove', { name })} icon={<Icon name="close" size={13} />} onClick={onRemove} />
      </div>
    </fieldset>
  )
}

function DefaultEdit({ id, attribute: a, status, onChange }: { id: string; attribute: Attribute; status?: 'error'; onChange: (value: unknown) => void }) {
  const { t } = useI18n()
  switch (a.type) {
    case 'choice': return <Select id={id} allowClear status={status} value={typeof a.default === 'string' && a.default !== '' ? a.default : undefined} options={(a.choices ?? []).map((c) => ({ value: c, label: c }))} onChange={onChange} />
    case 'number': return <InputNumber id={id} value={typeof a.default === 'number' ? a.default : null} onChange={onChange} />
    case 'flag': return <Select id={id} allowClear value={typeof a.default === 'boolean' ? String(a.default) : undefined} options={[{ value: 'true', label: t('form.yes') }, { value: 'false', label: t('form.no') }]} onChange={(v: string | undefined) => onChange(v === undefined ? undefined : v === 'true')} />
    case 'text': return <Input id={id} value={typeof a.default === 'string' ? a.default : ''} status={status} autoComplete="off" onChange={(e) => onChange(e.target.value)} />
  }
}
