import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from 'react-router/dom'
import './app/base.css'
import { Providers } from './app/Providers'
import { theme } from './app/prefs'
import { router } from './app/router'
import { applyPalette } from './app/theme'

applyPalette(theme.dark())
const root = document.getElementById('root')
if (!root) throw new Error('no #root')
createRoot(root).render(
  <StrictMode>
    <Providers>
      <RouterProvider router={router} />
    </Providers>
  </StrictMode>,
)
