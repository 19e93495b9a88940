import { Button, Dropdown } from 'antd'
import { useMemo } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { useKeys, type Shortcut } from '../../app/keys'
import { projectUrl } from '../../app/links'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'

/** Where an object is, from the project down; what has no page is only named. */
export function Crumbs({ of }: { of: readonly { url: string | null; title: string }[] }) {
  const { t } = useI18n()
  const { project } = useApp()
  return (
    <nav className="crumbs" aria-label={t('object.path')}>
      <ol>
        {project && <li><Link to={projectUrl(project.name)}>{project.name}</Link></li>}
        {of.map(({ url, title }) => <li key={url ?? title}>{url ? <Link to={url}>{title}</Link> : title}</li>)}
      </ol>
    </nav>
  )
}

export interface MenuEntry {
  key: string
  label: string
  danger?: boolean
  disabled?: boolean
}

/** What can be done with an object besides its buttons. */
export function MoreMenu({ entries, onPick }: { entries: MenuEntry[]; onPick: (key: string) => void }) {
  const { t } = useI18n()
  if (entries.length === 0) return null
  return (
    <Dropdown trigger={['click']} menu={{ items: entries.map((one) => ({ ...one })), onClick: ({ key }) => onPick(key) }}>
      <Button aria-label={t('object.more')} icon={<Icon name="more" />} />
    </Dropdown>
  )
}

/** The keys of a page whose object can be edited or deleted; what cannot is null. */
export function useObjectKeys(edit: (() => void) | null, remove: (() => void) | null): void {
  const shortcuts = useMemo<Shortcut[]>(() => [
    ...(edit ? [{ keys: 'e', label: 'keys.edit' as const, group: 'page' as const, run: edit }] : []),
    ...(remove ? [{ keys: 'Delete', label: 'keys.delete' as const, group: 'page' as const, run: remove }] : []),
  ], [edit, remove])
  useKeys(shortcuts)
}
