import { Suspense } from 'react'
import type { Action, Item, Kind } from '../../api/kinds'
import type { Place } from '../../api/objects'
import type { Values } from '../../components/merge'
import { EndSession } from '../profile/EndSession'
import { ActionDialog } from './ActionDialog'
import { DeleteDialog } from './DeleteDialog'
import { ObjectForm } from './ObjectForm'
import { actionForms } from './special'

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
  if (!open) return null
  if (open.what === 'create') return <ObjectForm kind={kind} place={place} preset={open.preset} onClose={onClose} onSaved={onSaved} />
  if (open.what === 'edit') return <ObjectForm kind={kind} place={place} item={open.item} onClose={onClose} onSaved={onSaved} />
  if (open.what === 'delete') {
    if (kind.name === 'session') return <EndSession kind={kind} item={open.item} onClose={onClose} />
    return <DeleteDialog kind={kind} place={place} item={open.item} onClose={onClose} onDeleted={onDeleted} />
  }
  const Own = actionForms[`${kind.name}.${open.what.name}`]
  if (Own) return <Suspense fallback={null}><Own item={open.item} onClose={onClose} /></Suspense>
  return <ActionDialog kind={kind} place={place} action={open.what} item={open.item} onClose={onClose} />
}
