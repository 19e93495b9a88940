import { useMutation, useQuery, useQueryClient, keepPreviousData } from '@tanstack/react-query'
import { Button, InputNumber, Select } from 'antd'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { apiUrl, request } from '../../api/client'
import { invalidate } from '../../api/objects'
import { may } from '../../api/session'
import { formatBytes } from '../../components/format'
import { useOnce } from '../../components/hooks'
import { ProblemNote } from '../../components/ProblemNote'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { TaskView } from '../tasks/TaskView'
import type { Task } from '../tasks/tasks'
import { RecordDrawer } from './RecordDrawer'
import { Value } from './RecordValue'
import { fieldType, pageSize, type RecordFile, type RecordPage, type Verdict } from './records'
import type { Version } from './samples'

/** The record files of a version: written, looked into, checked. */
export function RecordsTab({ version }: { version: Version }) {
  const { t } = useI18n()
  const { session, project } = useApp()
  const files = (version.item['records'] ?? []) as RecordFile[]
  const mayWrite = may(session, 'dataset_version.update', project?.id)
  if (Number(version.item['samples']) === 0 && files.length === 0) return <Empty title={t('gallery.empty')} text={t('records.help')} />
  return (
    <div className="records">
      {files.length === 0 && <Empty title={t('records.none')} text={t('records.help')}>{mayWrite && <Write version={version} first />}</Empty>}
      {files.length > 0 && <Files version={version} files={files} mayWrite={mayWrite} />}
    </div>
  )
}

function Write({ version, first }: { version: Version; first?: boolean }) {
  const { t } = useI18n()
  const client = useQueryClient()
  const run = useMutation({ mutationFn: () => request<Task>(`${version.path}/write-records`, { method: 'POST', body: {} }) })
  const write = useOnce(() => run.mutateAsync().catch(() => undefined))
  return (
    <>
      <Button type={first ? 'primary' : 'default'} loading={run.isPending} onClick={() => void write()}>{t(first ? 'records.write' : 'records.rewrite')}</Button>
      {run.error && <ProblemNote error={run.error} />}
      {run.data && <TaskView id={run.data.id} onOver={() => void invalidate(client, 'dataset_version')} />}
    </>
  )
}

function Files({ version, files, mayWrite }: { version: Version; files: RecordFile[]; mayWrite: boolean }) {
  const { t, n } = useI18n()
  const [params, setParams] = useSearchParams()
  const file = files.find((f) => f.name === params.get('file')) ?? files[0]
  const from = Math.max(0, Number(params.get('from')) || 0)
  const go = (to: { file?: string; from?: number }) => setParams((old) => {
    const next = new URLSearchParams(old)
    next.set('file', to.file ?? file?.name ?? '')
    next.set('from', String(to.from ?? 0))
    return next
  }, { replace: true })
  const verify = useMutation({ mutationFn: () => checkAll(version, files) })
  if (!file) return null
  return (
    <>
      <div className="tools">
        <label htmlFor="record-file">{t('records.file')}</label>
        <Select id="record-file" className="record-file" value={file.name} onChange={(name: string) => go({ file: name })} options={files.map((f) => ({ value: f.name, label: `${f.name} · ${formatBytes(f.size)}` }))} />
        <span className="grow" />
        <Button loading={verify.isPending} onClick={() => verify.mutate()}>{t('records.verify')}</Button>
        <Button href={apiUrl(`${version.path}/records/${encodeURIComponent(file.name)}`)} download={file.name}>{t('sample.download')}</Button>
        {mayWrite && <Write version={version} />}
      </div>
      {verify.error && <ProblemNote error={verify.error} />}
      {verify.data && <Checked found={verify.data} files={files.length} />}
      <Records key={file.name} version={version} file={file} from={from} onFrom={(at) => go({ from: at })} all={t('records.files', { n: n(files.length) })} />
    </>
  )
}

async function checkAll(version: Version, files: RecordFile[]): Promise<{ name: string; verdict: Verdict }[]> {
  const found = []
  for (const file of files) {
    found.push({ name: file.name, verdict: await request<Verdict>(`${version.path}/records/${encodeURIComponent(file.name)}/verify`, { method: 'POST', body: {} }) })
  }
  return found
}

function Checked({ found, files }: { found: { name: string; verdict: Verdict }[]; files: number }) {
  const { t, n } = useI18n()
  const damaged = found.filter((f) => !f.verdict.sound)
  if (damaged.length === 0) {
    return <p className="note" role="status">{t('records.sound', { n: n(files), size: formatBytes(found.reduce((sum, f) => sum + f.verdict.bytes, 0)) })}</p>
  }
  return (
    <div className="note note-error" role="alert">
      <p>{t('records.damaged', { n: n(damaged.length) })}</p>
      <ul>{damaged.flatMap((f) => f.verdict.faults.slice(0, 10).map((fault, i) => <li key={`${f.name}-${i}`}>{f.name}: {fault.message}</li>))}</ul>
    </div>
  )
}

function Records({ version, file, from, onFrom, all }: { version: Version; file: RecordFile; from: number; onFrom: (at: number) => void; all: string }) {
  const { t, n } = useI18n()
  const [open, setOpen] = useState<number | null>(null)
  const path = `${version.path}/records/${encodeURIComponent(file.name)}`
  const found = useQuery({
    queryKey: ['records', file.digest, from],
    queryFn: ({ signal }) => request<RecordPage>(`${path}/items`, { query: { from, limit: pageSize }, signal }),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  })
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const page = found.data
  if (!page) return <Skeleton />
  const last = Math.max(0, page.records - 1)
  const shown = page.items.find((item) => item.record === open)
  return (
    <>
      <dl className="facts facts-small">
        <div><dt>{t('records.records')}</dt><dd className="num">{n(page.records)}</dd></div>
        <div><dt>{t('records.first')}</dt><dd className="num">{n(page.first)}</dd></div>
        <div><dt>{t('versions.size')}</dt><dd className="num">{formatBytes(page.bytes)}</dd></div>
        <div><dt>{t('records.set')}</dt><dd className="num">{all}</dd></div>
      </dl>
      <section className="block">
        <h2>{t('records.schema')}</h2>
        <ul className="tags">{page.fields.map((f) => <li key={f.name} className="chip"><strong>{f.name}</strong><span className="muted">{fieldType(f)}{f.name === page.key && ` · ${t('records.key')}`}</span></li>)}</ul>
      </section>
      <section className="block">
        <div className="section-head">
          <h2>{t('records.range', { from: n(Math.min(from, last)), to: n(Math.min(from + pageSize - 1, last)), all: n(page.records) })}</h2>
          <span className="row">
            <label htmlFor="record-at" className="muted">{t('records.go')}</label>
            <InputNumber id="record-at" min={0} max={last} precision={0} value={from} onChange={(value) => value !== null && onFrom(value)} changeOnWheel={false} />
            <Button disabled={from <= 0} onClick={() => onFrom(Math.max(0, from - pageSize))}>{t('records.previous')}</Button>
            <Button disabled={from + pageSize > last} onClick={() => onFrom(from + pageSize)}>{t('records.next')}</Button>
          </span>
        </div>
        <div className="table-box">
          <table className="table record-table">
            <thead><tr><th scope="col" className="right">{t('records.record')}</th>{page.fields.map((f) => <th key={f.name} scope="col">{f.name}</th>)}</tr></thead>
            <tbody>
              {page.items.map((item) => (
                <tr key={item.record}>
                  <td className="right"><Button type="link" size="small" className="num" aria-label={t('records.open', { n: item.record })} onClick={() => setOpen(item.record)}>{n(item.record)}</Button></td>
                  {page.fields.map((f, i) => <td key={f.name}><Value value={item.values[i]} url={apiUrl(`${path}/value`, { record: item.record, field: f.name })} small /></td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      {shown && <RecordDrawer page={page} item={shown} path={path} onClose={() => setOpen(null)} />}
    </>
  )
}
