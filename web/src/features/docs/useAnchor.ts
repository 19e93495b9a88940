import { useEffect } from 'react'
import { useLocation } from 'react-router'

/** The anchor of the address; what bears it is shown and has the focus as soon as it is there. */
export function useAnchor(ready: boolean): string {
  const { hash, key } = useLocation()
  let anchor = hash.slice(1)
  try {
    anchor = decodeURIComponent(anchor)
  } catch {
    // Not encoded: it is as it stands.
  }
  useEffect(() => {
    const place = ready && anchor !== '' ? document.getElementById(anchor) : null
    place?.scrollIntoView({ block: 'start' })
    place?.focus({ preventScroll: true })
  }, [ready, anchor, key])
  return anchor
}
