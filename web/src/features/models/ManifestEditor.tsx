import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button, Input, Segmented } from 'antd'
import { useEffect, useState } from 'react'
import { useApp } from '../../app/context'
import { request, type Schema } from '../../api/client'
import { invalidate } from '../../api/objects'
import { may } from '../../api/session'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { putFile } from '../files/files'
import { useAllFiles, useGraphs } from './graphs'
import { fromJson, type Manifest } from './manifest'
import { askedText } from './ManifestField'
import { ManifestForm } from './ManifestForm'
import { TryVersion } from './TryVersion'

const file = 'ingot-model.json'

/** What the server says of a manifest that is not saved, a moment after the last change. */
function useCheck(version: Version, manifest: Manifest) {
  const text = JSON.stringify(manifest)
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 300)
    return () => clearTimeout(timer)
  }, [text])
  const found = useQuery({
    queryKey: ['model-check', version.path, version.item.revision, settled],
    queryFn: ({ signal }) => request<Schema<'ModelCheck'>>(`${version.path}/check`, { method: 'POST', body: JSON.parse(settled) as unknown, signal }),
    placeholderData: keepPreviousData,
    retry: false,
  })
  return { answer: found.data, settled: settled === text && !found.isPlaceholderData && !found.isFetching }
}

/** A manifest by fields or as it is written; tried before it is saved. */
export function ManifestEditor({ version, first, asked, proposal, onDone }: { version: Version; first: Manifest; asked: readonly string[]; proposal: boolean; onDone: () => void }) {
  const { t, language } = useI18n()
  const { session, project } = useApp()
  const { message } = App.useApp()
  const client = useQueryClient()
  const [manifest, setManifest] = useState(first)
  const [text, setText] = useState<string | null>(null)
  const [noJson, setNoJson] = useState<string | null>(null)
  const files = useAllFiles(version)
  const graphs = useGraphs(version, manifest.parts.map((one) => one.file))
  const check = useCheck(version, manifest)
  const wrong = check.answer && !check.answer.ok ? { field: check.answer.field, reason: (language === 'zh' && check.answer.reason_zh) || check.answer.reason || '' } : null
  const save = useMutation({
    mutationFn: () => putFile(version, file, new File([JSON.stringify(manifest, null, 2)], file, { type: 'application/json' }), () => undefined),
    onSuccess: async () => {
      void message.success(t('model.saved'))
      await invalidate(client, version.kind.name)
      onDone()
    },
  })
  const type = (next: string) => {
    setText(next)
    try {
      const parsed = fromJson(JSON.parse(next))
      setNoJson(parsed ? null : '{}')
      if (parsed) setManifest(parsed)
    } catch (error) {
      setNoJson(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <section className="model-proposal">
      <h2>{t('model.does')}</h2>
      {proposal && <p className="muted">{t('model.silent')}</p>}
      {asked.length > 0 && <p>{t('model.asked', { fields: asked.map((one) => askedText(one, t)).join(language === 'zh' ? '、' : ', ') })}</p>}
      <Segmented size="small" aria-label={t('model.manifest')} value={text === null ? 'form' : 'json'} onChange={(value) => { setText(value === 'json' ? JSON.stringify(manifest, null, 2) : null); setNoJson(null) }}
        options={[{ value: 'form', label: t('manifest.asForm') }, { value: 'json', label: file }]} />
      <div className="manifest-work">
        <div>
          {text === null ? (
            <ManifestForm manifest={manifest} files={files} graphs={graphs} wrong={wrong} onChange={setManifest} />
          ) : (
            <Input.TextArea aria-label={t('model.manifest')} className="code" spellCheck={false} autoSize={{ minRows: 12, maxRows: 36 }} value={text} onChange={(e) => type(e.target.value)} />
          )}
          {noJson !== null && <p role="alert" className="field-error">{t('model.noJson', { why: noJson })}</p>}
        </div>
        {may(session, 'service.invoke', project?.id) && (
          <div>
            <h3>{t('manifest.try')}</h3>
            <p className="muted">{t('manifest.tryText')}</p>
            <TryVersion version={version} described={manifest} unsaved />
          </div>
        )}
      </div>
      {save.error && <ProblemNote error={save.error} />}
      <div className="row wrap manifest-foot">
        <Button type="primary" loading={save.isPending} disabled={noJson !== null || (wrong !== null && check.settled)} onClick={() => save.mutate()}>{t('model.save')}</Button>
        {!proposal && <Button onClick={onDone}>{t('form.cancel')}</Button>}
        <span role="status" className={wrong ? 'error-text' : 'muted'}>{wrong ? wrong.reason : check.answer?.ok ? t('manifest.fits') : ''}</span>
      </div>
    </section>
  )
}
