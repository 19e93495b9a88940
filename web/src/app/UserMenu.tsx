import { Button, Dropdown } from 'antd'
import { useNavigate } from 'react-router'
import { Icon } from '../components/Icon'
import { useI18n } from '../i18n'
import { useApp } from './context'
import { useAskedSignOut } from './useAskedSignOut'

export function UserMenu() {
  const { t, w } = useI18n()
  const { session, kinds } = useApp()
  const navigate = useNavigate()
  const signOut = useAskedSignOut()
  const own = kinds.filter((kind) => kind.scope === 'own' && kind.verbs.includes('list'))
  const name = session.user.display_name || session.user.name
  return (
    <Dropdown
      trigger={['click']}
      menu={{
        items: [
          { key: 'who', type: 'group', label: name },
          { key: '/profile', label: t('user.profile'), icon: <Icon name="user" size={14} /> },
          ...own.map((kind) => ({ key: `/profile/${kind.plural}`, label: w(kind.titles), icon: <Icon name={kind.name === 'token' ? 'key' : 'screen'} size={14} /> })),
          { type: 'divider' },
          { key: 'out', label: t('user.signOut'), icon: <Icon name="out" size={14} /> },
        ],
        onClick: ({ key }) => (key === 'out' ? void signOut() : void navigate(key)),
      }}
    >
      <Button type="text" aria-label={`${t('user.menu')}: ${name}`} className="user-button">
        <span className="avatar" aria-hidden="true">{[...name][0]?.toUpperCase()}</span>
      </Button>
    </Dropdown>
  )
}
