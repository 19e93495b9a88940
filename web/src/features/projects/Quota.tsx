import { Button, Input } from 'antd'
import { useState } from 'react'
import type { EditProps, ShowProps } from '../../components/editors'
import { bytesForInput, formatBytes, parseBytes } from '../../components/format'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import { quotaFromRows, quotaToRows, type Quota, type QuotaRows } from './quotaModel'

export function QuotaEdit({ id, value, onChange, onInvalid }: EditProps) {
  const { t } = useI18n()
  const [rows, setRows] = useState<QuotaRows>(() => quotaToRows((value ?? {}) as Quota, bytesForInput))
  const change = (next: QuotaRows) => {
    setRows(next)
    const { quota, bad } = quotaFromRows(next, parseBytes)
    onInvalid(bad === null ? null : bad === 'bytes' ? t('rule.bytes') : bad === 'number' ? t('rule.number') : t('rule.required'))
    if (bad === null) onChange(quota)
  }
  const simple = (name: 'cpu' | 'memory' | 'storage', example: string) => (
    <div>
      <label htmlFor={name === 'cpu' ? id : `${id}-${name}`}>{t(`quota.${name}`)}</label>
      <Input id={name === 'cpu' ? id : `${id}-${name}`} value={rows[name]} placeholder={t('form.unitHint', { example })} onChange={(e) => change({ ...rows, [name]: e.target.value })} autoComplete="off" />
    </div>
  )
  const set = (i: number, part: Partial<QuotaRows['accelerators'][number]>) =>
    change({ ...rows, accelerators: rows.accelerators.map((a, j) => (j === i ? { ...a, ...part } : a)) })
  return (
    <div className="sub-form">
      <div className="columns">
        {simple('cpu', '64')}
        {simple('memory', '256 GiB')}
        {simple('storage', '2 TiB')}
      </div>
      <span className="sub-title">{t('quota.accelerators')}</span>
      {rows.accelerators.map((a, i) => (
        <div key={i} className="row">
          <Input aria-label={t('quota.kindOf', { n: i + 1 })} placeholder={t('quota.kind')} value={a.kind} onChange={(e) => set(i, { kind: e.target.value })} />
          <Input aria-label={t('quota.numberOf', { kind: a.kind || i + 1 })} placeholder={t('quota.number')} inputMode="decimal" value={a.number} onChange={(e) => set(i, { number: e.target.value })} />
          <Button type="text" aria-label={t('quota.removeKind', { kind: a.kind || i + 1 })} icon={<Icon name="close" size={14} />} onClick={() => change({ ...rows, accelerators: rows.accelerators.filter((_, j) => j !== i) })} />
        </div>
      ))}
      <div>
        <Button size="small" icon={<Icon name="plus" size={12} />} onClick={() => change({ ...rows, accelerators: [...rows.accelerators, { kind: '', number: '1' }] })}>{t('quota.addKind')}</Button>
      </div>
      <p className="field-help">{t('quota.help')}</p>
    </div>
  )
}

export function QuotaShow({ value, short }: ShowProps) {
  const { t, n } = useI18n()
  const quota = (value ?? {}) as Quota
  const facts: [string, string][] = []
  const add = (name: string, value: number | null | undefined, text: (value: number) => string) => {
    if (typeof value === 'number') facts.push([name, text(value)])
  }
  add(t('quota.cpu'), quota.cpus, n)
  add(t('quota.memory'), quota.memory, formatBytes)
  add(t('quota.storage'), quota.storage, formatBytes)
  for (const [kind, count] of Object.entries(quota.accelerators ?? {})) add(kind, count, n)
  if (facts.length === 0) return <span className="muted">{t('project.noQuota')}</span>
  if (short) return <span className="num">{facts.map(([name, text]) => `${name} ${text}`).join(' · ')}</span>
  return (
    <dl className="facts">
      {facts.map(([name, text]) => <div key={name}><dt>{name}</dt><dd className="num">{text}</dd></div>)}
    </dl>
  )
}
