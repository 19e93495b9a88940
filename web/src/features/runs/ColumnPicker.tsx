import { Button, Checkbox, Input, Popover } from 'antd'
import { useState } from 'react'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import { columnOf, type Column } from './runs'

interface Props {
  all: readonly Column[]
  shown: readonly string[]
  titleOf: (column: Column) => string
  /** null: as it is for those who choose nothing. */
  onChange: (next: string[] | null) => void
  chosen: boolean
}

const most = 200

/** Which columns a table has, and in which order. */
export function ColumnPicker({ all, shown, titleOf, onChange, chosen }: Props) {
  const { t } = useI18n()
  const [open, setOpen] = useState(false)
  return (
    <Popover
      open={open} onOpenChange={setOpen} trigger="click" placement="bottomRight" arrow={false} destroyOnHidden
      content={<Choices all={all} shown={shown} titleOf={titleOf} onChange={onChange} chosen={chosen} />}
    >
      <Button aria-expanded={open}>{t('runs.columns')}</Button>
    </Popover>
  )
}

function Choices({ all, shown, titleOf, onChange, chosen }: Props) {
  const { t } = useI18n()
  const [wanted, setWanted] = useState('')
  const fits = (column: Column) => titleOf(column).toLowerCase().includes(wanted.trim().toLowerCase())
  const rest = all.filter((column) => !shown.includes(column.key))
  const group = (source: Column['source']) => rest.filter((column) => column.source === source && fits(column)).slice(0, most)
  const earlier = (key: string) => {
    const i = shown.indexOf(key)
    onChange([...shown.slice(0, i - 1), key, ...shown.slice(i - 1, i), ...shown.slice(i + 1)])
  }
  return (
    <div className="runs-columns">
      <Input allowClear type="search" aria-label={t('runs.findColumn')} placeholder={t('runs.findColumn')} value={wanted} onChange={(e) => setWanted(e.target.value)} />
      <div className="runs-column-list">
        <ul aria-label={t('runs.shown')}>
          {shown.map(columnOf).filter(fits).map((column) => (
            <li key={column.key} className="row">
              <Checkbox checked onChange={() => onChange(shown.filter((key) => key !== column.key))}>{titleOf(column)}{column.source === 'metric' && <span className="muted"> {t('runs.best')}</span>}</Checkbox>
              <span className="grow" />
              {shown.indexOf(column.key) > 0 && <Button type="text" size="small" aria-label={t('runs.earlier', { name: titleOf(column) })} icon={<Icon name="up" size={12} />} onClick={() => earlier(column.key)} />}
            </li>
          ))}
        </ul>
        {(['field', 'metric', 'last', 'parameter'] as const).map((source) => group(source).length > 0 && (
          <ul key={source} aria-label={t(`runs.group.${source}`)}>
            <li className="muted">{t(`runs.group.${source}`)}</li>
            {group(source).map((column) => <li key={column.key}><Checkbox checked={false} onChange={() => onChange([...shown, column.key])}>{titleOf(column)}</Checkbox></li>)}
          </ul>
        ))}
      </div>
      {chosen && <Button size="small" type="link" onClick={() => onChange(null)}>{t('runs.usualColumns')}</Button>}
    </div>
  )
}
