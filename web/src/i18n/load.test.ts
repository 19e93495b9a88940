import { expect, test, vi } from 'vitest'

test('a language is shown when it is there, and the last choice counts', async () => {
  vi.resetModules()
  const { language } = await import('../app/prefs')
  const { i18nOf, isKey, loadLanguage, showLanguage } = await import('.')
  expect(() => i18nOf('zh')).toThrow('not loaded')
  expect(isKey('app.menu')).toBe(false)
  language.set('en')
  await showLanguage()
  expect(i18nOf('en').t('app.menu')).toBe('Menu')
  expect(isKey('app.menu') && !isKey('app.none')).toBe(true)
  expect(() => i18nOf('zh')).toThrow('not loaded')
  language.set('zh')
  await vi.waitFor(() => expect(i18nOf('zh').t('app.menu')).toBe('菜单'))
  expect(await loadLanguage('zh')).toBe(i18nOf('zh'))
  expect(i18nOf('zh').sentence('it has no label')).toBe('没有标签')
  language.set(null)
})
