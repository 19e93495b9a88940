import { App } from 'antd'
import { useCallback, type MouseEvent } from 'react'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'

/** Opens a new tab at an address that is asked for at the click: addresses of tools hold for one use and a short while. */
export function useOpenTab(address: () => Promise<string | null>): (event: MouseEvent) => void {
  const i18n = useI18n()
  const { message } = App.useApp()
  return useCallback(
    (event: MouseEvent) => {
      event.preventDefault()
      // Now, or the browser takes it for a pop-up nobody asked for.
      const tab = window.open('about:blank', '_blank')
      if (tab) tab.opener = null
      address().then(
        (url) => {
          if (!url) throw new Error(i18n.t('tool.gone'))
          if (tab) tab.location.replace(url)
          else window.location.assign(url)
        },
      ).catch((error: unknown) => {
        tab?.close()
        void message.error(problemText(error, i18n))
      })
    },
    [address, i18n, message],
  )
}
