import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { AutoComplete } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../../app/context'
import { itemUrl, listUrl } from '../../../app/links'
import { listPage } from '../../../api/objects'
import type { EditProps, ShowProps } from '../../../components/editors'
import { useDebounced } from '../../../components/hooks'
import { nameOf } from '../../../components/names'
import { useI18n } from '../../../i18n'

/** Images of the project whose name begins with what is typed; once one is named, its versions. */
function useImages(text: string, open: boolean): string[] {
  const { kind: byName, project } = useApp()
  const image = byName('image')
  const version = byName('image_version')
  const [name = '', tag] = text.split(':')
  const q = useDebounced(name === 'host' ? '' : name, 150)
  const images = useQuery({
    queryKey: ['objects', 'image', 'choices', project?.id ?? 0, q],
    queryFn: async ({ signal }) => (image ? (await listPage(image, { project: project?.id }, { q, limit: 20 }, signal)).items : []),
    enabled: open && image !== undefined,
    placeholderData: keepPreviousData,
  })
  const exact = images.data?.find((item) => item['name'] === name)
  const versions = useQuery({
    queryKey: ['objects', 'image_version', 'choices', exact?.id ?? 0],
    queryFn: async ({ signal }) => (image && version && exact ? (await listPage(version, { parent: { kind: image, id: exact.id } }, { limit: 50 }, signal)).items : []),
    enabled: exact !== undefined,
  })
  const tags = exact && version ? (versions.data ?? []).map((item) => `${name}:${nameOf(version, item)}`) : []
  const names = (images.data ?? []).map((item) => String(item['name'])).filter((each) => tag === undefined && each !== name)
  return ['host', ...tags, ...names]
}

const hostImage = 'host'

/** Names of the project's images, without versions. */
export function useImageNames(text: string): string[] {
  return useImages(text.split(':')[0] ?? '', true).filter((name) => name !== hostImage && !name.includes(':'))
}

export function ImageEdit({ id, value, onChange }: EditProps) {
  const { t } = useI18n()
  const [open, setOpen] = useState(false)
  const text = typeof value === 'string' ? value : ''
  const names = useImages(text, open)
  return (
    <AutoComplete
      id={id} aria-label={t('image.choose')} className="mono" value={text} onChange={(next: string) => onChange(next)} onOpenChange={setOpen} placeholder={hostImage}
      options={[...new Set(names)].map((name) => ({ value: name, label: name === 'host' ? <span className="spec-option"><span>{name}</span><span className="muted">{t('image.host')}</span></span> : name }))}
    />
  )
}

export function ImageShow({ value, short }: ShowProps) {
  const { t } = useI18n()
  const { kind: byName, project } = useApp()
  const text = typeof value === 'string' ? value : ''
  const image = byName('image')
  const name = text.split(':')[0] ?? ''
  const wanted = image && !short && name !== 'host' && name !== '' && !name.includes('/')
  const found = useQuery({
    queryKey: ['objects', 'image', 'named', project?.id ?? 0, name],
    queryFn: async ({ signal }) => (image ? (await listPage(image, { project: project?.id }, { filter: `name = ${JSON.stringify(name)}`, limit: 1 }, signal)).items[0] ?? null : null),
    enabled: wanted === true,
  })
  if (text === '') return <span className="muted">{t('value.none')}</span>
  const url = image && found.data ? (itemUrl(image, found.data.id, project) ?? listUrl(image, project)) : null
  return url ? <Link className="mono" to={url}>{text}</Link> : <code>{text}</code>
}
