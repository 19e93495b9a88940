import { useQuery } from '@tanstack/react-query'
import { Button, Select } from 'antd'
import { useCallback, useState } from 'react'
import { Problem, request, type Schema } from '../../api/client'
import { allItems, useList } from '../../api/objects'
import { nameOf } from '../../components/names'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { FileBrowser } from '../files/FileBrowser'
import { useOpenTab } from '../environments/openTab'
import { InstallTool } from '../tools/InstallTool'
import { useTool } from '../tools/tools'
import './models.css'
import { Differences } from './Differences'
import { ManifestView } from './ManifestView'
import { SummaryView } from './SummaryView'

export type ModelSummary = Schema<'ModelSummary'>

/** What a model version has inside: the summary of its ONNX file, another version beside it, and the way to Netron. */
export function ModelTab({ version }: { version: Version }) {
  const i18n = useI18n()
  const { t } = i18n
  const [other, setOther] = useState<number | null>(null)
  const others = allItems(useList(version.kind, { parent: { kind: version.parentKind, id: version.parent.id } }, { sort: '-number' }).data)
  const found = useQuery({
    queryKey: ['objects', version.kind.name, 'summary', version.item.id, version.item.revision, other],
    queryFn: ({ signal }) => request<ModelSummary>(`${version.path}/summary`, { query: { with: other ?? undefined }, signal }),
    retry: false,
  })
  const address = useCallback(async () => {
    const answer = await request<Schema<'ToolAddress'>>(`${version.path}/netron`, { method: 'POST', body: {} })
    if (!answer.url) throw new Error((i18n.language === 'zh' ? answer.reason_zh : answer.reason) ?? '')
    return answer.url
  }, [version.path, i18n.language])
  const open = useOpenTab(address)
  const [asked, setAsked] = useState(false)
  const drawn = useTool('netron').data?.state === 'ready'
  const none = found.error instanceof Problem && found.error.status === 409
  const choices = others.filter((one) => one.id !== version.item.id && Number(one['files']) > 0)
  return (
    <section className="model-tab">
      <div className="tools row wrap">
        {drawn ? <Button href="#" onClick={open}>{t('model.netron')}</Button> : <Button onClick={() => setAsked(true)}>{t('model.netron')}</Button>}
        {choices.length > 0 && !none && (
          <Select allowClear value={other} onChange={(value: number | undefined) => setOther(value ?? null)} placeholder={t('model.with')} aria-label={t('model.with')} className="model-with"
            options={choices.map((one) => ({ value: one.id, label: nameOf(version.kind, one) }))} />
        )}
      </div>
      {asked && <InstallTool name="netron" />}
      {none && <><p className="muted">{t('model.none')}. {t('model.noneText')}</p><FileBrowser version={version} /></>}
      {found.error && !none && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {!found.data && !found.error && <Skeleton n={2} />}
      {found.data?.compare && <Differences found={found.data} />}
      {found.data && <ManifestView version={version} />}
      {found.data && <SummaryView path={found.data.path} summary={found.data.summary} />}
    </section>
  )
}
