import { useMemo } from 'react'
import { useApp } from '../../app/context'
import { nameOf } from '../../components/names'
import type { Version } from '../datasets/samples'
import { ListView } from '../objects/ListView'

/** How good a model version was found, and the way to find it out. */
export function EvaluationsTab({ version }: { version: Version }) {
  const { project, kind: byName } = useApp()
  const { item, parent, parentKind } = version
  const kind = byName('evaluation')
  const preset = useMemo(() => ({ model_version: { id: item.id, name: nameOf(version.kind, item), of: { id: parent.id, name: nameOf(parentKind, parent) } } }), [version.kind, item, parent, parentKind])
  return kind ? <ListView kind={kind} place={{ project: project?.id }} fixed={`model_version = ${item.id}`} hiddenFields={['model_version']} preset={preset} /> : null
}
