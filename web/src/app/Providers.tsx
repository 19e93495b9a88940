import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { App as AntdApp, ConfigProvider } from 'antd'
import { useLayoutEffect, useMemo, useState, useSyncExternalStore, type ReactNode } from 'react'
import { Problem } from '../api/client'
import { useI18n } from '../i18n'
import { theme } from './prefs'
import { antdTheme, applyPalette } from './theme'

function makeClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        refetchOnWindowFocus: false,
        retry: (count, error) => count < 2 && (!(error instanceof Problem) || error.status === 0 || error.status >= 502),
      },
    },
  })
}

export function Providers({ children }: { children: ReactNode }) {
  const [client] = useState(makeClient)
  const { language, parts } = useI18n()
  const dark = useSyncExternalStore(theme.subscribe, theme.dark)
  useLayoutEffect(() => applyPalette(dark), [dark])
  useLayoutEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  }, [language])
  const config = useMemo(() => antdTheme(dark), [dark])
  return (
    <QueryClientProvider client={client}>
      <ConfigProvider
        theme={config}
        locale={parts}
        wave={{ disabled: true }}
        button={{ autoInsertSpace: false }}
      >
        <AntdApp component={false} message={{ maxCount: 3 }}>
          {children}
        </AntdApp>
      </ConfigProvider>
    </QueryClientProvider>
  )
}
