import { createContext, useContext } from 'react'
import type { Kind } from '../api/kinds'
import type { Place } from '../api/objects'

/** Where the object of a form lives: its references to siblings are looked for there. */
export const PlaceContext = createContext<Place>({})

/** Where to look for objects of a kind from here; null when they cannot be listed from here. */
export function usePlaceOf(kind: Kind | undefined, project: number | undefined): Place | null {
  const place = useContext(PlaceContext)
  if (!kind) return null
  if (kind.scope !== 'child') return { project }
  return place.parent && place.parent.kind.name === kind.parent ? { parent: place.parent } : null
}
