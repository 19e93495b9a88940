import { Suspense, useEffect } from 'react'
import type { Action, Item, Kind } from '../../api/kinds'
import type { Place } from '../../api/objects'
import { lazyPart } from '../../app/part'
import type { Values } from '../../components/merge'
import { Skeleton } from '../../components/States'
import { EndSession } from '../profile/EndSession'
import { ActionDialog } from './ActionDialog'
import { DeleteDialog } from './DeleteDialog'
import { actionForms } from './special'

const form = () => import('./ObjectForm')
const ObjectForm = lazyPart(form, 'ObjectForm')

export type Open = { what: 'create'; preset?: Values } | { what: 'edit' | 'delete' | Action; item: Item }

interface Props {
  kind: Kind
  place: Place
  open: Open | null
  onClose: () => void
  onSaved?: (item: Item) => void
  onDeleted?: () => void
}

/** The dialog that is open for a list or an object, if any. */
export function Dialogs({ kind, place, open, onClose, onSaved, onDeleted }: Props) {
  useEffect(() => {
    // It is there when somebody asks for it, also while the server is away; if it does not come now, it is asked for again then.
    const timer = window.setTimeout(() => void form().catch(() => undefined), 1000)
    return () => window.clearTimeout(timer)
  }, [])
  if (!open) return null
  if (open.what === 'create' || open.what === 'edit') {
    const of = open.what === 'create' ? { preset: open.preset } : { item: open.item }
    // What is typed while it is being fetched is not for the page.
    return <Suspense fallback={<div className="form-coming keys-none"><Skeleton as="fields" n={6} /></div>}><ObjectForm kind={kind} place={place} {...of} onClose={onClose} onSaved={onSaved} /></Suspense>
  }
  if (open.what === 'delete') {
    if (kind.name === 'session') return <EndSession kind={kind} item={open.item} onClose={onClose} />
    return <DeleteDialog kind={kind} place={place} item={open.item} onClose={onClose} onDeleted={onDeleted} />
  }
  const Own = actionForms[`${kind.name}.${open.what.name}`]
  if (Own) return <Suspense fallback={null}><Own item={open.item} onClose={onClose} /></Suspense>
  return <ActionDialog kind={kind} place={place} action={open.what} item={open.item} onClose={onClose} />
}
