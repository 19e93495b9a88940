import { useMemo } from 'react'
import { NavLink } from 'react-router'
import { useNarrow } from '../components/hooks'
import { Icon } from '../components/Icon'
import { useI18n } from '../i18n'
import { useApp } from './context'
import { menuGroups } from './menu'
import { ProjectSwitcher } from './ProjectSwitcher'
import { useShownProject } from './shownProject'

export function SideMenu() {
  const i18n = useI18n()
  const { session, kinds } = useApp()
  const project = useShownProject()
  const narrow = useNarrow()
  const groups = useMemo(() => menuGroups(kinds, session, project, i18n), [kinds, session, project, i18n])
  return (
    <nav className="menu" aria-label={i18n.t('app.menu')}>
      {narrow && <div className="menu-project"><ProjectSwitcher /></div>}
      {groups.map((group) => (
        <div key={group.name} className="menu-group">
          {group.title && <h2 id={`menu-${group.name}`}>{group.title}</h2>}
          <ul aria-labelledby={group.title ? `menu-${group.name}` : undefined}>
            {group.entries.map((entry) => (
              <li key={entry.url}>
                <NavLink to={entry.url} end={!entry.kind} className="menu-link">{entry.title}</NavLink>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <div className="menu-foot">
        <a className="menu-link" href="/docs" target="_blank" rel="noreferrer">
          <Icon name="book" size={14} /> {i18n.t('app.docs')}
        </a>
      </div>
    </nav>
  )
}
