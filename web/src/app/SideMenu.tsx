import { useMemo, useSyncExternalStore } from 'react'
import { Link, NavLink, useLocation } from 'react-router'
import { useNarrow } from '../components/hooks'
import { Icon } from '../components/Icon'
import { useI18n } from '../i18n'
import { useApp } from './context'
import { docsUrl } from './links'
import { menuGroups, type MenuGroup } from './menu'
import { foldedMenu } from './prefs'
import { ProjectSwitcher } from './ProjectSwitcher'
import { useShownProject } from './shownProject'

/** Until somebody says otherwise: who administers does so now and then. */
const foldedAtFirst = 'admin'

function useFolded(): { folded: ReadonlySet<string>; turn: (name: string) => void } {
  const text = useSyncExternalStore(foldedMenu.subscribe, foldedMenu.get) ?? foldedAtFirst
  return useMemo(() => {
    const folded = new Set(text.split(',').filter(Boolean))
    const turn = (name: string) => foldedMenu.set([...folded].filter((one) => one !== name).concat(folded.has(name) ? [] : name).join(','))
    return { folded, turn }
  }, [text])
}

export function SideMenu() {
  const i18n = useI18n()
  const { session, kinds } = useApp()
  const project = useShownProject()
  const narrow = useNarrow()
  const { folded, turn } = useFolded()
  const { pathname, search } = useLocation()
  const from = pathname + search
  const groups = useMemo(() => menuGroups(kinds, session, project, i18n), [kinds, session, project, i18n])
  return (
    <nav className="menu" aria-label={i18n.t('app.menu')}>
      {narrow && <div className="menu-project"><ProjectSwitcher /></div>}
      {groups.map((group) => <Group key={group.name} group={group} folded={folded.has(group.name)} onTurn={turn} />)}
      <div className="menu-foot">
        <Link className="menu-link" to={docsUrl()} state={{ from }}>
          <Icon name="book" size={15} /> {i18n.t('app.docs')}
        </Link>
      </div>
    </nav>
  )
}

/** Of a folded group only the page one is at stays to be seen. */
function Group({ group, folded, onTurn }: { group: MenuGroup; folded: boolean; onTurn: (name: string) => void }) {
  const id = `menu-${group.name}`
  return (
    <div className={`menu-group menu-group-${group.name}${folded && group.title ? ' folded' : ''}`}>
      {group.title && (
        <h2>
          <button type="button" id={id} aria-expanded={!folded} aria-controls={`${id}-list`} onClick={() => onTurn(group.name)}>
            {group.title}<Icon name="chevron" size={10} />
          </button>
        </h2>
      )}
      <ul id={`${id}-list`} aria-labelledby={group.title ? id : undefined}>
        {group.entries.map((entry) => (
          <li key={entry.url}>
            <NavLink to={entry.url} end={!entry.kind} className="menu-link"><Icon name={entry.icon} size={15} />{entry.title}</NavLink>
          </li>
        ))}
      </ul>
    </div>
  )
}
