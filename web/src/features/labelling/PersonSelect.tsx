import { Select } from 'antd'
import type { Ref } from '../../api/kinds'
import { useI18n } from '../../i18n'

/** One of a few people that are known already. */
export function PersonSelect({ id, people, value, onChange }: { id: string; people: readonly Ref[]; value: Ref | null; onChange: (value: Ref | null) => void }) {
  const { t } = useI18n()
  return (
    <Select
      id={id} showSearch optionFilterProp="label" value={value?.id ?? null} placeholder={t('form.choose')} options={people.map((one) => ({ value: one.id, label: one.name }))}
      onChange={(chosen: number) => onChange(people.find((one) => one.id === chosen) ?? null)}
    />
  )
}
