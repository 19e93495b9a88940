import { Button, Dropdown } from 'antd'
import { useSyncExternalStore } from 'react'
import { Icon } from '../components/Icon'
import { useI18n } from '../i18n'
import { language, theme, type Language, type Theme } from './prefs'

const themes: Theme[] = ['light', 'dark', 'system']
const languages: Language[] = ['zh', 'en']
const themeIcons = { light: 'sun', dark: 'moon', system: 'screen' } as const

export function ThemeMenu() {
  const { t } = useI18n()
  const now = useSyncExternalStore(theme.subscribe, theme.get)
  return (
    <Dropdown
      trigger={['click']}
      menu={{
        selectable: true,
        selectedKeys: [now],
        items: themes.map((name) => ({ key: name, label: t(`theme.${name}`), icon: <Icon name={themeIcons[name]} size={14} /> })),
        onClick: ({ key }) => theme.set(key as Theme),
      }}
    >
      <Button type="text" aria-label={t('theme.label')} icon={<Icon name={themeIcons[now]} />} />
    </Dropdown>
  )
}

export function LanguageMenu() {
  const { t, language: now } = useI18n()
  return (
    <Dropdown
      trigger={['click']}
      menu={{
        selectable: true,
        selectedKeys: [now],
        items: languages.map((name) => ({ key: name, label: t(`language.${name}`) })),
        onClick: ({ key }) => language.set(key as Language),
      }}
    >
      <Button type="text" aria-label={t('language.label')} icon={<Icon name="globe" />} />
    </Dropdown>
  )
}
