import { Button, Input } from 'antd'
import { useState, type ClipboardEvent } from 'react'
import type { EditProps, ShowProps } from '../../../components/editors'
import { Icon } from '../../../components/Icon'
import { useI18n } from '../../../i18n'
import { envFromRows, envFromText, envToRows, withLines, type EnvRow } from './envModel'

export function EnvEdit(props: EditProps) {
  return <Rows {...props} />
}

/** Of variables that are there already, in an image that one builds upon. */
export function EnvChangeEdit(props: EditProps) {
  return <Rows {...props} above />
}

function Rows({ id, value, onChange, onInvalid, above }: EditProps & { above?: boolean }) {
  const { t } = useI18n()
  const [rows, setRows] = useState<EnvRow[]>(() => envToRows(value))
  const change = (next: EnvRow[]) => {
    setRows(next)
    const { env, bad } = envFromRows(next)
    onInvalid(bad === null ? null : t('env.badName', { name: bad }))
    if (bad === null) onChange(env)
  }
  const set = (i: number, part: Partial<EnvRow>) => change(rows.map((row, k) => (k === i ? { ...row, ...part } : row)))
  const paste = (event: ClipboardEvent, i: number) => {
    const lines = envFromText(event.clipboardData.getData('text'))
    if (!lines) return
    event.preventDefault()
    change(withLines(rows, i, lines))
  }
  return (
    <div className="env-rows">
      {rows.length > 0 && (
        <table className="row-table">
          <thead><tr><th scope="col">{t('env.nameTitle')}</th><th scope="col">{t('env.valueTitle')}</th><td /></tr></thead>
          <tbody>
            {rows.map((row, i) => (
              <tr key={i}>
                <td><Input className="mono" aria-label={t('env.nameOf', { n: i + 1 })} placeholder={t('env.name')} value={row.name} readOnly={row.secret} autoComplete="off" spellCheck={false} onPaste={(e) => paste(e, i)} onChange={(e) => set(i, { name: e.target.value })} /></td>
                <td>{row.value === null ? <span className="muted env-gone">{t('env.gone')}</span> : <Input className="mono" aria-label={t('env.valueOf', { name: row.name || i + 1 })} placeholder={t(row.secret ? 'env.kept' : 'env.value')} value={row.value} autoComplete="off" spellCheck={false} onChange={(e) => set(i, { value: e.target.value })} />}</td>
                <td><Button type="text" aria-label={t('env.remove', { name: row.name || i + 1 })} icon={<Icon name="close" size={14} />} onClick={() => change(rows.filter((_, k) => k !== i))} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div className="row wrap">
        <Button id={id} size="small" icon={<Icon name="plus" size={12} />} onClick={() => change([...rows, { name: '', value: '' }])}>{t('env.add')}</Button>
        {above && <Button size="small" onClick={() => change([...rows, { name: '', value: null }])}>{t('env.takeAway')}</Button>}
        {rows.length > 0 && <span className="field-help">{t('env.pasteHint')}</span>}
      </div>
    </div>
  )
}

export function EnvShow({ value }: ShowProps) {
  const { t } = useI18n()
  const rows = envToRows(value)
  if (rows.length === 0) return <span className="muted">{t('value.none')}</span>
  return <pre>{rows.map((row) => `${row.name}=${row.secret ? '…' : (row.value ?? '')}`).join('\n')}</pre>
}
