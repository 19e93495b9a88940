import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Select } from 'antd'
import { memo, useState } from 'react'
import { useNavigate } from 'react-router'
import { request } from '../api/client'
import type { Page } from '../api/kinds'
import { useDebounced, useLatest } from '../components/hooks'
import { useI18n } from '../i18n'
import { useApp } from './context'
import { projectUrl } from './links'
import { useShownProject } from './shownProject'

export function ProjectSwitcher() {
  const { session } = useApp()
  const project = useShownProject()
  const navigate = useNavigate()
  const go = useLatest((name: string) => void navigate(projectUrl(name)))
  return <Switcher name={project?.name ?? null} projects={session.projects} onChoose={go} />
}

/** Apart from what hears of every change of the address: a select takes long to render. */
const Switcher = memo(function Switcher({ name: shown, projects, onChoose }: { name: string | null; projects: readonly { name: string }[]; onChoose: (name: string) => void }) {
  const { t } = useI18n()
  const [open, setOpen] = useState(false)
  const [text, setText] = useState('')
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
})
