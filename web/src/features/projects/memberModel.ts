import type { Kind } from '../../api/kinds'
import { granted } from '../roles/permissionModel'

export interface May {
  /** Everything that people make in a project. */
  changesAll: boolean
  changes: Kind[]
  looksAll: boolean
  /** Where nothing is changed. */
  looks: Kind[]
  /** Only what a labelling task gives. */
  labels: boolean
  reviews: boolean
  deletesOthers: boolean
}

const can = (grants: readonly string[], permission: string | undefined) => {
  const [kind, verb] = (permission ?? '').split('.')
  return kind !== undefined && verb !== undefined && granted(grants, kind, verb)
}

/** What a role allows, by the kinds that a project has in its menu. */
export function mayOf(kinds: readonly Kind[], grants: readonly string[]): May {
  const own = kinds.filter((k) => k.scope === 'project' && k.menu !== null && k.menu !== 'admin')
  const made = own.filter((k) => k.permissions.create)
  const changes = made.filter((k) => can(grants, k.permissions.create))
  const looks = own.filter((k) => can(grants, k.permissions.read) && !changes.includes(k))
  const changesAll = made.length > 0 && changes.length === made.length
  const others = own.filter((k) => k.permissions.delete_any)
  return {
    changesAll,
    changes,
    looksAll: own.every((k) => can(grants, k.permissions.read)),
    looks,
    labels: !changesAll && granted(grants, 'annotation', 'update'),
    reviews: granted(grants, 'review', 'update'),
    deletesOthers: others.length > 0 && others.every((k) => can(grants, k.permissions.delete_any)),
  }
}
