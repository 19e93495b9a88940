import { Button, Tooltip } from 'antd'
import { memo } from 'react'
import { Link } from 'react-router'
import { Icon } from '../components/Icon'
import { useI18n } from '../i18n'
import { LanguageMenu, ThemeMenu } from './PrefMenus'
import { ProjectSwitcher } from './ProjectSwitcher'
import { UserMenu } from './UserMenu'

/** Apart from what hears of every change of the address, as the workbench makes one for each sample. */
export const TopBar = memo(function TopBar(props: { narrow: boolean; onMenu: () => void; onSearch: () => void; onHelp: () => void }) {
  const { t } = useI18n()
  const { narrow } = props
  return (
    <header className="top">
      {narrow && (
        <Button type="text" aria-label={t('app.openMenu')} icon={<Icon name="menu" />} onClick={props.onMenu} />
      )}
      <Link to="/" className="brand">
        <img src="/ingot.svg" alt="" width={20} height={20} />
        <span>{t('app.name')}</span>
      </Link>
      {!narrow && <ProjectSwitcher />}
      <span className="grow" />
      {narrow ? (
        <Button type="text" aria-label={t('palette.open')} icon={<Icon name="search" />} onClick={props.onSearch} />
      ) : (
        <button type="button" className="search-button" onClick={props.onSearch}>
          <Icon name="search" size={14} /> <span>{t('palette.open')}</span> <kbd>{t('palette.keys')}</kbd>
        </button>
      )}
      {!narrow && (
        <Tooltip title={t('keys.title')}>
          <Button type="text" aria-label={t('keys.title')} icon={<Icon name="keyboard" />} onClick={props.onHelp} />
        </Tooltip>
      )}
      <LanguageMenu />
      <ThemeMenu />
      <UserMenu />
    </header>
  )
})
