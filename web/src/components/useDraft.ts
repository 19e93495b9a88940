import { useEffect, useRef } from 'react'
import type { Field } from '../api/kinds'
import { draftOf, takeDraft, watchDraft } from './drafts'
import { changedFields, type Values } from './merge'
import type { FormState } from './useForm'

/** What was typed into a form before the page was loaded anew is in it again, and is kept when the page is loaded anew now.
 * onTaken: editors that keep what is typed must begin anew. */
export function useDraft(name: string, fields: readonly Field[], initial: Values, form: FormState, onTaken: () => void): void {
  const typed = useRef<() => Values | null>(() => null)
  typed.current = () => draftOf(fields, changedFields(initial, form.values, fields), form.values)
  useEffect(() => watchDraft(name, () => typed.current()), [name])
  useEffect(() => {
    const draft = takeDraft(name)
    if (!draft) return
    form.setAll(draft)
    onTaken()
    // Once, when it opens.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [])
}
