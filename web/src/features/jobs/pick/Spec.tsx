import { useQuery } from '@tanstack/react-query'
import { Select } from 'antd'
import { request } from '../../../api/client'
import type { Item, Page } from '../../../api/kinds'
import type { EditProps, ShowProps } from '../../../components/editors'
import { formatBytes } from '../../../components/format'
import { isRef } from '../../../components/names'
import { RefLink } from '../../../components/FieldValue'
import { useI18n, type I18n } from '../../../i18n'

export function useSpecs() {
  return useQuery({
    queryKey: ['objects', 'spec', 'choices'],
    queryFn: async ({ signal }) => (await request<Page>('/specs', { query: { limit: 200, sort: 'cpus' }, signal })).items,
  })
}

/** "4 CPUs · 16 GiB · 1 × nvidia-a100 · InfiniBand" */
export function specText(spec: Item, { t, n }: I18n): string {
  const parts = [t('spec.cpus', { n: n(Number(spec['cpus'])) }), formatBytes(Number(spec['memory']))]
  if (Number(spec['accelerators']) > 0) parts.push(`${n(Number(spec['accelerators']))} × ${String(spec['accelerator'])}`)
  if (spec['ib'] === true) parts.push('InfiniBand')
  if (spec['roce'] === true) parts.push('RoCE')
  return parts.join(' · ')
}

export function SpecEdit({ id, value, onChange }: EditProps) {
  const i18n = useI18n()
  const { t } = i18n
  const specs = useSpecs()
  const now = isRef(value) ? value : null
  const items = specs.data ?? []
  const options = items.map((s) => ({ value: s.id, label: String(s['name']), note: specText(s, i18n) }))
  if (now && !items.some((s) => s.id === now.id)) options.unshift({ value: now.id, label: now.name, note: '' })
  return (
    <Select
      id={id} aria-label={t('spec.choose')} value={now?.id ?? null} loading={specs.isFetching} showSearch optionFilterProp="label" placeholder={t('form.choose')}
      notFoundContent={t(specs.isFetching ? 'list.loading' : 'spec.none')} options={options}
      optionRender={(option) => <span className="spec-option"><span>{option.data.label}</span><span className="muted num">{option.data.note}</span></span>}
      labelRender={(label) => {
        const note = options.find((o) => o.value === label.value)?.note
        return <span className="spec-option"><span>{label.label}</span><span className="muted num">{note}</span></span>
      }}
      onChange={(chosen: number) => {
        const spec = items.find((s) => s.id === chosen)
        onChange(spec ? { id: spec.id, name: String(spec['name']) } : null)
      }}
    />
  )
}

export function SpecShow({ value, short }: ShowProps) {
  const i18n = useI18n()
  const specs = useSpecs()
  if (!isRef(value)) return <span className="muted">{i18n.t('value.none')}</span>
  const spec = specs.data?.find((s) => s.id === value.id)
  const link = <RefLink kindName="spec" value={value} />
  return short || !spec ? link : <span className="link-and-note">{link} <span className="muted num">{specText(spec, i18n)}</span></span>
}
