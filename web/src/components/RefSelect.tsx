import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Select } from 'antd'
import { useState } from 'react'
import { useApp } from '../app/context'
import type { Ref } from '../api/kinds'
import { listPage } from '../api/objects'
import { useI18n } from '../i18n'
import { useDebounced } from './hooks'
import { nameOf } from './names'
import { usePlaceOf } from './place'

interface Props {
  id?: string
  kindName: string
  value: Ref | null
  onChange: (value: Ref | null) => void
  invalid?: boolean
  clearable?: boolean
  placeholder?: string
  className?: string
  'aria-label'?: string
  'aria-describedby'?: string
}

/** Chooses an object of a kind; searches on the server as one types. */
export function RefSelect({ kindName, value, onChange, invalid, clearable, placeholder, ...rest }: Props) {
  const { t } = useI18n()
  const { kind: byName, project } = useApp()
  const kind = byName(kindName)
  const place = usePlaceOf(kind, project?.id)
  const [open, setOpen] = useState(false)
  const [text, setText] = useState('')
  const q = useDebounced(text.trim(), 150)
  const found = useQuery({
    queryKey: ['objects', kindName, 'select', project?.id ?? 0, place?.parent?.id ?? 0, q],
    queryFn: ({ signal }) => {
      if (!kind || !place) throw new Error(`no list of ${kindName} here`)
      return listPage(kind, place, { q, limit: 50 }, signal)
    },
    enabled: open && kind !== undefined && place !== null,
    placeholderData: keepPreviousData,
  })
  const options = (found.data?.items ?? []).map((item) => ({ value: item.id, label: kind ? nameOf(kind, item) : '' }))
  if (value && !options.some((o) => o.value === value.id)) options.unshift({ value: value.id, label: value.name })
  return (
    <Select
      {...rest}
      showSearch
      filterOption={false}
      status={invalid ? 'error' : undefined}
      value={value?.id ?? null}
      searchValue={text}
      onSearch={setText}
      onOpenChange={(next) => {
        setOpen(next)
        if (!next) setText('')
      }}
      loading={open && found.isFetching}
      allowClear={clearable}
      placeholder={placeholder ?? t('form.choose')}
      notFoundContent={found.isFetching ? t('list.loading') : t('list.noMatch')}
      options={options}
      onChange={(id: number | null | undefined) => {
        const option = options.find((o) => o.value === id)
        onChange(option ? { id: option.value, name: option.label } : null)
      }}
    />
  )
}
