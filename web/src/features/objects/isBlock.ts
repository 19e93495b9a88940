import type { Field, Kind } from '../../api/kinds'
import { editorOf } from '../../components/editors'

/** Whether a field's value needs lines of its own. */
export function isBlock(kind: Kind, field: Field): boolean {
  return field.type === 'json' || field.long || editorOf(kind.name, field)?.wide === true
}
