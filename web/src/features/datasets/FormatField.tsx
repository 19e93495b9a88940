import { Select } from 'antd'
import { useId } from 'react'
import { useI18n } from '../../i18n'
import { exampleUrl, useFormats } from './formats'

/** Chooses the format of an import; shows what it looks like and offers a sample archive to download. */
export function FormatField({ type, value, onChange }: { type: unknown; value: string; onChange: (format: string) => void }) {
  const { t, w } = useI18n()
  const id = useId()
  const formats = useFormats(type, 'imports')
  const chosen = formats.find((f) => f.name === value)
  const shown = chosen ? [chosen] : formats.filter((f) => f.name !== 'files')
  return (
    <div className="field">
      <label htmlFor={id}>{t('import.format')}</label>
      <Select id={id} value={value} onChange={onChange} options={[{ value: '', label: t('import.auto') }, ...formats.map((f) => ({ value: f.name, label: w(f.title) }))]} />
      {chosen && <p className="field-help"><code>{chosen.files}</code></p>}
      {shown.length > 0 && (
        <p className="field-help">
          {t('import.examples')}{' '}
          {shown.map((f, i) => <span key={f.name}>{i > 0 && ' · '}<a href={exampleUrl(f.name, type)} download>{w(f.title)}</a></span>)}
        </p>
      )}
    </div>
  )
}
