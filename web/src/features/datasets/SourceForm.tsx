import { Input, Select } from 'antd'
import { Fragment, useId } from 'react'
import { useI18n } from '../../i18n'
import { sources, type SourceKind, type SourceValues } from './sources'

interface Props {
  kind: SourceKind
  values: SourceValues
  secret: string
  onChange: (values: SourceValues) => void
  onSecret: (secret: string) => void
}

/** Asks for an object store or a database. */
export function SourceForm({ kind, values, secret, onChange, onSecret }: Props) {
  const { t } = useI18n()
  const id = useId()
  const { fields, hint, secret: secretLabel, secretAfter } = sources[kind]
  return (
    <div className="source-form">
      {fields.map((f) => {
        const label = t(f.label)
        const common = {
          id: `${id}-${f.name}`,
          value: values[f.name] ?? '',
          placeholder: f.example,
          onChange: (e: { target: { value: string } }) => onChange({ ...values, [f.name]: e.target.value }),
        }
        return (
          <Fragment key={f.name}>
            <div className={f.long ? 'field wide' : 'field'}>
              <label htmlFor={common.id}>{label}{!f.optional && <span className="needed" title={t('form.required')}> *</span>}</label>
              {f.choices ? <Select id={common.id} value={values[f.name] ?? f.choices[0]?.value} onChange={(value: string) => onChange({ ...values, [f.name]: value })} options={f.choices.map((c) => ({ value: c.value, label: t(c.label) }))} />
                : f.long ? <Input.TextArea rows={3} className="mono" spellCheck={false} {...common} />
                : <Input {...common} inputMode={f.number ? 'numeric' : undefined} />}
            </div>
            {f.name === secretAfter && (
              <div className="field">
                <label htmlFor={`${id}-secret`}>{t(secretLabel)}</label>
                <Input.Password id={`${id}-secret`} autoComplete="off" value={secret} onChange={(e) => onSecret(e.target.value)} />
              </div>
            )}
          </Fragment>
        )
      })}
      <p className="field-help wide">{t(hint)}</p>
    </div>
  )
}
