import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Select } from 'antd'
import { useState } from 'react'
import { request } from '../api/client'
import type { Page } from '../api/kinds'
import { useDebounced } from '../components/hooks'
import { useI18n } from '../i18n'

/** Opens at once: it is fetched when somebody wants to choose. */
export function ProjectSelect({ typed, name: shown, projects, onChoose }: { typed: string; name: string | null; projects: readonly { name: string }[]; onChoose: (name: string) => void }) {
  const { t } = useI18n()
  const [open, setOpen] = useState(true)
  const [text, setText] = useState(typed)
  const q = useDebounced(text, 150)
  const found = useQuery({
    queryKey: ['objects', 'project', 'switch', q],
    queryFn: () => request<Page>('/projects', { query: { q, limit: 50, sort: 'name' } }),
    enabled: open,
    placeholderData: keepPreviousData,
  })
  // Until the answer to what is typed has come, what was found before counts only where it fits.
  const late = !found.data || found.isPlaceholderData || text !== q
  const known = found.data ? found.data.items.map((p) => String(p['name'])) : projects.map((p) => p.name)
  const names = late ? known.filter((name) => name.toLowerCase().includes(text.trim().toLowerCase())) : known
  return (
    <Select
      className="project-switcher"
      autoFocus
      open={open}
      aria-label={t('project.switch')}
      showSearch
      filterOption={false}
      value={shown}
      placeholder={t('project.none')}
      searchValue={text}
      onSearch={setText}
      onOpenChange={(next) => {
        setOpen(next)
        if (!next) setText('')
      }}
      loading={open && (late || found.isFetching)}
      notFoundContent={t(late ? 'list.loading' : 'project.none')}
      options={names.map((name) => ({ value: name, label: name }))}
      onSelect={onChoose}
      popupMatchSelectWidth={240}
      variant="filled"
    />
  )
}
