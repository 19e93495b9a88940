import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Button, InputNumber, Select, Switch } from 'antd'
import { useId, useState } from 'react'
import { useApp } from '../../app/context'
import { apiUrl, request } from '../../api/client'
import { invalidate } from '../../api/objects'
import { useOnce } from '../../components/hooks'
import { ProblemNote } from '../../components/ProblemNote'
import { Empty } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { TaskProgress } from '../tasks/TaskView'
import { useTasks, type Task } from '../tasks/tasks'
import { useFormats } from './formats'
import { sampleStates, type Version } from './samples'

/** States of samples that training data can be made from. */
const usable = sampleStates.filter((name) => name !== 'cleaned')

/** Which samples became training data, and which did not. */
function Used({ result }: { result: Task['result'] }) {
  const { t, n } = useI18n()
  if (typeof result?.['train'] !== 'number') return null
  const left = Object.entries((result['left_out'] ?? {}) as Record<string, number>).map(([state, count]) => `${t(`sampleState.${state as (typeof usable)[number]}`)} ${n(count)}`)
  return (
    <p className="muted">
      {t('training.used', { train: n(Number(result['train'])), test: n(Number(result['test'])), negatives: n(Number(result['negatives'])) })}
      {left.length > 0 && ` · ${t('training.left', { what: left.join(', ') })}`}
    </p>
  )
}

/** Exports and training data, and those made before. */
export function ExportTab({ version }: { version: Version }) {
  const { t, w } = useI18n()
  const { project } = useApp()
  const id = useId()
  const client = useQueryClient()
  const formats = useFormats(version.parent['annotation_type'], 'exports')
  const [chosen, setFormat] = useState<string | null>(null)
  const format = chosen ?? (formats.some((f) => f.name === 'coco') ? 'coco' : 'ingot')
  const [files, setFiles] = useState(true)
  const [seed, setSeed] = useState(0)
  const [share, setShare] = useState(20)
  const [trainingFiles, setTrainingFiles] = useState(true)
  const [states, setStates] = useState<string[]>(['annotated', 'review', 'accepted'])
  const [split, setSplit] = useState('seed')
  const run = useMutation({
    mutationFn: ({ action, body }: { action: string; body: Record<string, unknown> }) => request<Task>(`${version.path}/${action}`, { method: 'POST', body }),
    onSuccess: () => invalidate(client, 'task'),
  })
  const make = useOnce((action: string, body: Record<string, unknown>) => run.mutateAsync({ action, body }).catch(() => undefined))
  const made = useTasks(project?.id ?? 0, `subject_kind = "dataset_version" and subject = ${version.item.id}`, 50, true)
  const products = (made.data ?? []).filter((task) => task.type === 'export')
  /** Both are made by the same kind of task; an export has a format, training data a seed. */
  const what = (task: Task) => {
    const params = (task['params'] ?? {}) as { format?: string; seed?: number; test_share?: number; samples?: boolean }
    const bare = params.samples === false ? ` · ${t('export.bare')}` : ''
    if (params.format === undefined) return `${t('training.title')} · ${t('training.of', { seed: params.seed ?? 0, share: Math.round((params.test_share ?? 0) * 100) })}${bare}`
    const format = formats.find((f) => f.name === params.format)
    return `${t('export.title')} · ${format ? w(format.title) : params.format}${bare}`
  }
  if (Number(version.item['samples']) === 0) return <Empty title={t('gallery.empty')} text={t('export.empty')} />
  return (
    <div className="summary">
      <div className="two">
        <form className="panel form" onSubmit={(e) => { e.preventDefault(); void make('export', { format, samples: files }) }}>
          <h2>{t('export.title')}</h2>
          <p className="muted">{t('export.help')}</p>
          <div className="field"><label htmlFor={`${id}-format`}>{t('import.format')}</label><Select id={`${id}-format`} value={format} onChange={setFormat} options={formats.filter((f) => f.name !== 'files').map((f) => ({ value: f.name, label: w(f.title) }))} /></div>
          <div className="field field-bool"><Switch id={`${id}-files`} checked={files} onChange={setFiles} /><label htmlFor={`${id}-files`}>{t('export.files')}</label></div>
          <div><Button type="primary" htmlType="submit" loading={run.isPending}>{t('export.run')}</Button></div>
        </form>
        <form className="panel form" onSubmit={(e) => { e.preventDefault(); void make('training-data', { seed, test_share: share / 100, states, split, samples: trainingFiles }) }}>
          <h2>{t('training.title')}</h2>
          <p className="muted">{t('training.help')}</p>
          <div className="columns-2">
            <div className="field"><label htmlFor={`${id}-share`}>{t('training.share')}</label><InputNumber id={`${id}-share`} min={0} max={90} addonAfter="%" value={share} onChange={(v) => setShare(v ?? 0)} /></div>
            <div className="field"><label htmlFor={`${id}-seed`}>{t('training.seed')}</label><InputNumber id={`${id}-seed`} min={0} max={2 ** 31} precision={0} value={seed} onChange={(v) => setSeed(v ?? 0)} /></div>
          </div>
          <div className="field"><label htmlFor={`${id}-states`}>{t('training.states')}</label><Select id={`${id}-states`} mode="multiple" value={states} onChange={setStates} options={usable.map((name) => ({ value: name, label: t(`sampleState.${name}`) }))} /><p className="muted">{t('training.statesHelp')}</p></div>
          <div className="field"><label htmlFor={`${id}-split`}>{t('training.split')}</label><Select id={`${id}-split`} value={split} onChange={setSplit} options={(['seed', 'imported'] as const).map((name) => ({ value: name, label: t(`training.split.${name}`) }))} /></div>
          <div className="field field-bool"><Switch id={`${id}-training-files`} checked={trainingFiles} onChange={setTrainingFiles} /><label htmlFor={`${id}-training-files`}>{t('export.files')}</label></div>
          <div><Button htmlType="submit" disabled={states.length === 0} loading={run.isPending}>{t('training.run')}</Button></div>
        </form>
      </div>
      {run.error && <ProblemNote error={run.error} />}
      {products.length > 0 && (
        <section className="block">
          <h2>{t('export.made')}</h2>
          <ul className="made">
            {products.map((task) => (
              <li key={task.id}>
                <div className="row wrap"><strong>{what(task)}</strong><span className="muted">{task.output_name}</span><Time at={task.created_at} /><span className="grow" />{task.output && <Button size="small" type="primary" href={apiUrl(`/tasks/${task.id}/download`)} download>{t('sample.download')}</Button>}</div>
                <Used result={task.result} />
                <TaskProgress task={task} compact />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}
