import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Select } from 'antd'
import { useState, type ReactNode } from 'react'
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

/** What a kind offers to choose from: searched on the server as one types. */
function useChoices(kindName: string, chosen: Ref[]) {
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
  const rest = chosen.filter((one) => !options.some((o) => o.value === one.id)).map((one) => ({ value: one.id, label: one.name }))
  const all = [...rest, ...options]
  // What was found for less than is typed counts only where it fits: Enter never chooses what one did not look for.
  const typed = text.trim().toLowerCase()
  const late = found.isPlaceholderData || typed !== q.toLowerCase()
  const fitting = late ? options.filter((o) => o.label.toLowerCase().includes(typed)) : options
  const { t } = useI18n()
  const props = {
    showSearch: true,
    filterOption: false,
    searchValue: text,
    onSearch: setText,
    onOpenChange: (next: boolean) => {
      setOpen(next)
      if (!next) setText('')
    },
    loading: open && (late || found.isFetching),
    notFoundContent: late || found.isFetching ? t('list.loading') : t('list.noMatch'),
    options: typed === '' ? all : fitting,
    labelRender: ({ label, value }: { label?: ReactNode; value: string | number }) => label ?? all.find((o) => o.value === value)?.label,
  }
  const refOf = (id: number | null | undefined): Ref | null => {
    const option = all.find((o) => o.value === id)
    return option ? { id: option.value, name: option.label } : null
  }
  return { props, refOf }
}

/** Chooses an object of a kind. */
export function RefSelect({ kindName, value, onChange, invalid, clearable, placeholder, ...rest }: Props) {
  const { t } = useI18n()
  const { props, refOf } = useChoices(kindName, value ? [value] : [])
  return (
    <Select
      {...rest} {...props} status={invalid ? 'error' : undefined} value={value?.id ?? null} allowClear={clearable}
      placeholder={placeholder ?? t('form.choose')} onChange={(id: number | null | undefined) => onChange(refOf(id))}
    />
  )
}

interface ManyProps extends Omit<Props, 'value' | 'onChange' | 'clearable'> {
  value: Ref[]
  onChange: (value: Ref[]) => void
}

/** Chooses several objects of a kind. */
export function RefsSelect({ kindName, value, onChange, invalid, placeholder, ...rest }: ManyProps) {
  const { t } = useI18n()
  const { props, refOf } = useChoices(kindName, value)
  return (
    <Select
      {...rest} {...props} mode="multiple" status={invalid ? 'error' : undefined} value={value.map((one) => one.id)}
      placeholder={placeholder ?? t('form.choose')} onChange={(ids: number[]) => onChange(ids.map(refOf).filter((one) => one !== null))}
    />
  )
}
