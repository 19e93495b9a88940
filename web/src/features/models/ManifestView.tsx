import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useState } from 'react'
import { request, type Schema } from '../../api/client'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { fromJson } from './manifest'
import { ManifestEditor } from './ManifestEditor'

type Found = Schema<'ModelManifest'>

export function useManifest(version: Version) {
  return useQuery({
    queryKey: ['objects', version.kind.name, 'manifest', version.item.id, version.item.revision],
    queryFn: ({ signal }) => request<Found>(`${version.path}/manifest`, { signal }),
    retry: false,
  })
}

/** Changes what the version says of itself (ingot-model.json, shown on its card); where it says nothing, a proposal to complete, try and save. */
export function ManifestView({ version }: { version: Version }) {
  const { t } = useI18n()
  const [editing, setEditing] = useState(false)
  const found = useManifest(version)
  if (!found.data) return null
  const manifest = fromJson(found.data.manifest)
  if (manifest && !editing) {
    return version.open ? <p><Button size="small" onClick={() => setEditing(true)}>{t('manifest.edit')}</Button></p> : null
  }
  const first = manifest ?? fromJson(found.data.guess)
  if (!version.open || !first) return null
  return <ManifestEditor key={version.item.id} version={version} first={first} asked={found.data.asked} proposal={!manifest} onDone={() => setEditing(false)} />
}
