import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useState } from 'react'
import { request, type Schema } from '../../api/client'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { fromJson } from './manifest'
import { ManifestEditor } from './ManifestEditor'
import { choiceText } from './ManifestField'

type Found = Schema<'ModelManifest'>

export function useManifest(version: Version) {
  return useQuery({
    queryKey: ['objects', version.kind.name, 'manifest', version.item.id, version.item.revision],
    queryFn: ({ signal }) => request<Found>(`${version.path}/manifest`, { signal }),
    retry: false,
  })
}

/** What the version says of itself (ingot-model.json); where it says nothing, a proposal to complete, try and save. */
export function ManifestView({ version }: { version: Version }) {
  const { t, n } = useI18n()
  const [editing, setEditing] = useState(false)
  const found = useManifest(version)
  if (!found.data) return null
  const manifest = fromJson(found.data.manifest)
  if (manifest && !editing) {
    return (
      <p className="row wrap">
        <span><span className="muted">{t('model.does')}</span> {t('model.says', { task: choiceText(manifest.task, t), n: n(manifest.labels?.length ?? 0) })}</span>
        {version.open && <Button size="small" onClick={() => setEditing(true)}>{t('manifest.edit')}</Button>}
      </p>
    )
  }
  const first = manifest ?? fromJson(found.data.guess)
  if (!version.open || !first) return null
  return <ManifestEditor key={version.item.id} version={version} first={first} asked={found.data.asked} proposal={!manifest} onDone={() => setEditing(false)} />
}
