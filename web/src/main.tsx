import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from 'react-router/dom'
import './app/base.css'
import { Providers } from './app/Providers'
import { theme } from './app/prefs'
import { router } from './app/router'
import { ServerAway } from './app/ServerAway'
import { applyPalette } from './app/theme'
import { loadLanguage, showLanguage } from './i18n'

applyPalette(theme.dark())
const root = document.getElementById('root')
if (!root) throw new Error('no #root')
showLanguage(loadLanguage).then(
  () => createRoot(root).render(
    <StrictMode>
      <Providers>
        <RouterProvider router={router} />
        <ServerAway />
      </Providers>
    </StrictMode>,
  ),
  // There are no texts to say it with: the one place with both languages in it.
  () => { root.textContent = 'Ingot cannot be loaded. Reload the page. 无法加载页面，请刷新。' },
)
