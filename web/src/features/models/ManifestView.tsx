import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button, Input } from 'antd'
import { useState } from 'react'
import { request, type Schema } from '../../api/client'
import { invalidate } from '../../api/objects'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { putFile } from '../files/files'

type Manifest = Schema<'ModelManifest'>

/** What the version says of itself (ingot-model.json); where it says nothing, a proposal to complete and save. */
export function ManifestView({ version }: { version: Version }) {
  const { t, n } = useI18n()
  const found = useQuery({
    queryKey: ['objects', version.kind.name, 'manifest', version.item.id, version.item.revision],
    queryFn: ({ signal }) => request<Manifest>(`${version.path}/manifest`, { signal }),
    retry: false,
  })
  if (!found.data) return null
  const manifest = found.data.manifest as { task?: string; labels?: unknown[] } | null
  if (manifest) return <p><span className="muted">{t('model.does')}</span> {t('model.says', { task: manifest.task ?? '', n: n(manifest.labels?.length ?? 0) })}</p>
  return version.open && found.data.guess ? <Proposal key={version.item.id} version={version} found={found.data} /> : null
}

function Proposal({ version, found }: { version: Version; found: Manifest }) {
  const { t } = useI18n()
  const { message } = App.useApp()
  const client = useQueryClient()
  const [text, setText] = useState(() => JSON.stringify(found.guess, null, 2))
  const [wrong, setWrong] = useState<string | null>(null)
  const save = useMutation({
    mutationFn: () => putFile(version, 'ingot-model.json', new File([text], 'ingot-model.json', { type: 'application/json' }), () => undefined),
    onSuccess: async () => {
      void message.success(t('model.saved'))
      await invalidate(client, version.kind.name)
    },
  })
  const submit = () => {
    try {
      JSON.parse(text)
      setWrong(null)
      save.mutate()
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <section className="model-proposal">
      <h2>{t('model.does')}</h2>
      <p className="muted">{t('model.silent')}</p>
      {found.asked.length > 0 && <p>{t('model.asked', { fields: found.asked.join(', ') })}</p>}
      <Input.TextArea aria-label={t('model.manifest')} className="code" spellCheck={false} autoSize={{ minRows: 8, maxRows: 24 }} value={text} onChange={(e) => setText(e.target.value)}
        onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) submit() }} />
      {wrong !== null && <p role="alert" className="error-text">{t('model.noJson', { why: wrong })}</p>}
      {save.error && <ProblemNote error={save.error} />}
      <Button type="primary" loading={save.isPending} onClick={submit}>{t('model.save')}</Button>
    </section>
  )
}
