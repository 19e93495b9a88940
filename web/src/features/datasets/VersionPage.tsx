import { useMemo } from 'react'
import { useParams } from 'react-router'
import { useApp } from '../../app/context'
import { NotFoundPage, ProblemPage } from '../../app/pages'
import { useRecent } from '../../app/recent'
import type { Item, Kind } from '../../api/kinds'
import { lasting, useItem } from '../../api/objects'
import { offers } from '../../api/session'
import { useTitle } from '../../components/hooks'
import { nameOf } from '../../components/names'
import { Skeleton } from '../../components/States'
import { useVersionNumber, type Version } from './samples'
import { VersionView } from './VersionView'

export function VersionPage() {
  const { plural, id, number } = useParams()
  const { kinds } = useApp()
  const parentKind = kinds.find((k) => k.plural === plural && k.scope === 'project')
  const kind = kinds.find((k) => k.scope === 'child' && k.parent === parentKind?.name && k.plural === 'versions')
  const whole = (text: string | undefined) => (/^[1-9]\d{0,15}$/.test(text ?? '') ? Number(text) : NaN)
  if (!parentKind || !kind || Number.isNaN(whole(id)) || Number.isNaN(whole(number))) return <NotFoundPage />
  return <Found key={`${parentKind.name}-${id}-${number}`} parentKind={parentKind} kind={kind} id={whole(id)} number={whole(number)} />
}

/** A version with where it is and what may be done with it. */
export function useVersion(kind: Kind, parentKind: Kind, parent: Item | undefined, item: Item | null | undefined): Version | null {
  const { project, session } = useApp()
  const mayUpdate = offers(session, kind, 'update', project?.id)
  return useMemo(() => {
    if (!parent || !item) return null
    const published = item['state'] === 'published' || ['publishing', 'reviewing'].includes(String(item['state'])) || item['published'] === true
    return { kind, parentKind, parent, item, path: `/${parentKind.plural}/${parent.id}/versions/${item.id}`, open: mayUpdate && !published, may: mayUpdate }
  }, [kind, parentKind, parent, item, mayUpdate])
}

function Found({ parentKind, kind, id, number }: { parentKind: Kind; kind: Kind; id: number; number: number }) {
  const { project } = useApp()
  const parent = useItem(parentKind, { project: project?.id }, id)
  const found = useVersionNumber(kind, parentKind, id, number)
  useTitle(found.data ? nameOf(kind, found.data) : null, parent.data ? nameOf(parentKind, parent.data) : null, project?.name)
  const version = useVersion(kind, parentKind, parent.data, found.data)
  const error = lasting(parent) ?? lasting(found)
  useRecent(kind.name, parent.data && found.data ? `${nameOf(parentKind, parent.data)} ${nameOf(kind, found.data)}` : null, error)
  if (error) return <ProblemPage error={error} onRetry={() => void (parent.error ? parent.refetch() : found.refetch())} />
  if (found.data === null) return <NotFoundPage />
  return version ? <VersionView version={version} /> : <Skeleton as="page" />
}
