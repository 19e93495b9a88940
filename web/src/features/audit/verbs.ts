import { useCallback } from 'react'
import { useApp } from '../../app/context'
import { isKey, useI18n } from '../../i18n'

/** What an audited verb is called: the common ones by us, actions by their kind. */
export function useVerbTitle(): (verb: string, kind?: string) => string {
  const { t, w } = useI18n()
  const { kinds } = useApp()
  return useCallback(
    (verb, kind) => {
      const key = `audit.${verb}`
      if (isKey(key)) return t(key)
      const of = kinds.filter((k) => kind === undefined || k.name === kind)
      return w(of.flatMap((k) => k.actions).find((a) => a.name === verb)?.title) || verb
    },
    [t, w, kinds],
  )
}
