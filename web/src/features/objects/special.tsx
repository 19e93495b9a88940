import { lazy, Suspense, type ComponentType } from 'react'
import type { Item, Kind } from '../../api/kinds'

// What some kinds show instead of the generic overview, or instead of the generic list of their children.
export interface SpecialProps {
  kind: Kind
  item: Item
}

type Registry = Record<string, ComponentType<SpecialProps> | undefined>

const versions = () => import('../datasets/Versions')
const Overview = lazy(async () => ({ default: (await versions()).VersionedOverview }))
const AllVersions = lazy(async () => ({ default: (await versions()).AllVersions }))

/** By the kind whose page it is. */
export const overviews: Registry = {
  dataset: Overview,
  algorithm_set: Overview,
  model_set: Overview,
  task: lazy(async () => ({ default: (await import('../tasks/TaskView')).TaskOverview })),
}

/** By the kind of the children. */
export const childTabs: Registry = { dataset_version: AllVersions, algorithm_version: AllVersions, model_version: AllVersions }

export function Special({ registry, name, ...props }: SpecialProps & { registry: Registry; name: string }) {
  const Component = registry[name]
  return Component ? <Suspense fallback={<div className="skeleton" aria-busy="true"><div /><div /></div>}><Component {...props} /></Suspense> : null
}
