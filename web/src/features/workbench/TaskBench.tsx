import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useParams, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { projectUrl } from '../../app/links'
import { NotFoundPage, ProblemPage } from '../../app/pages'
import type { AnnotationType } from '../../canvas'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { colorsOf } from '../datasets/samples'
import { pictureOfTask } from '../label-sets/examples'
import { withPictures } from '../labelling/instructions'
import { BenchPage } from './BenchPage'
import { labelsOf } from './labels'
import { useBatchSource } from './source'
import { useTask } from './useTask'
import { useBench } from './useBench'
import { tasks, type Assignment, type TaskBench as Task } from './work'

/** The workbench of a task: samples come in batches, leased to this person. */
export function TaskBench() {
  const { id, stage } = useParams()
  const task = Number(id)
  const found = useQuery({ queryKey: ['objects', 'label_task', 'bench', task], queryFn: ({ signal }) => tasks.bench(task, signal), enabled: Number.isSafeInteger(task), retry: false })
  if ((stage !== 'label' && stage !== 'review') || !Number.isSafeInteger(task)) return <NotFoundPage />
  if (found.error && !found.data) return <ProblemPage error={found.error} onRetry={() => void found.refetch()} />
  return found.data ? <Batches key={`${task}-${stage}`} id={task} stage={stage} task={found.data} /> : <div className="bench" aria-busy="true" />
}

function Batches({ id, stage, task }: { id: number; stage: 'label' | 'review'; task: Task }) {
  const i18n = useI18n()
  const { t } = i18n
  const [batch, setBatch] = useState<readonly Assignment[] | null>(null)
  const [left, setLeft] = useState(0)
  const [failed, setFailed] = useState<unknown>(null)
  const asking = useRef(false)
  const more = useCallback(async () => {
    if (asking.current) return
    asking.current = true
    try {
      const next = await tasks.next(id, stage)
      setBatch(next.items)
      setLeft(next.left)
      setFailed(null)
    } catch (error) {
      setFailed(error)
    }
    asking.current = false
  }, [id, stage])
  useEffect(() => void more(), [more])
  if (failed && !batch) return <ProblemPage error={failed} onRetry={() => void more()} />
  if (!batch) return <div className="bench" aria-busy="true" />
  if (batch.length === 0) {
    return (
      <section className="bench-done" role="status">
        <h1>{t('bench.allDone')}</h1>
        <p className="muted">{t('bench.allDoneText')}</p>
        {failed !== null && <p className="note note-error" role="alert">{problemText(failed, i18n)}</p>}
        <Button type="primary" onClick={() => void more()}>{t('bench.look')}</Button>
      </section>
    )
  }
  return <Loaded id={id} stage={stage} task={task} batch={batch} left={left} onBatch={setBatch} onMore={more} />
}

interface Props {
  id: number
  stage: 'label' | 'review'
  task: Task
  batch: readonly Assignment[]
  left: number
  onBatch: (change: (old: readonly Assignment[] | null) => readonly Assignment[] | null) => void
  onMore: () => Promise<void>
}

function Loaded({ id, stage, task, batch, left, onBatch, onMore }: Props) {
  const { session, project } = useApp()
  const [params, setParams] = useSearchParams()
  const colorOf = useMemo(() => colorsOf(task.labels), [task.labels])
  const labels = useMemo(() => labelsOf(task.labels, task.examples, (example) => pictureOfTask(id, example)), [id, task.labels, task.examples])
  const onOpen = useCallback((sample: number) => setParams({ sample: String(sample) }, { replace: true }), [setParams])
  const source = useBatchSource(batch)
  const first = batch[0]
  const path = first ? `/datasets/${first.dataset}/versions/${first.version}` : ''
  const bench = useBench(session.user.id, { path, type: task.annotation_type as AnnotationType, dataType: task.data_type as 'image', readOnly: false, colorOf, onOpen })
  const wanted = Number(params.get('sample')) || null
  const openId = wanted !== null && batch.some((a) => a.sample.id === wanted) ? wanted : null
  if (!bench) return <div className="bench" aria-busy="true" />
  return <Page id={id} stage={stage} task={task} batch={batch} left={left} onBatch={onBatch} onMore={onMore} bench={bench} source={source} labels={labels} openId={openId} backUrl={project ? `${projectUrl(project.name)}/label-tasks/${id}` : '/'} />
}

function Page({ bench, source, labels, openId, backUrl, task, ...props }: Props & Pick<Parameters<typeof BenchPage>[0], 'bench' | 'source' | 'labels' | 'openId' | 'backUrl'>) {
  const part = useTask({ ...props, bench })
  return <BenchPage bench={bench} source={source} labels={labels} mayAdd={false} title={props.batch[0]?.task.name ?? ''} backUrl={backUrl} instructions={task.instructions === null ? null : withPictures(task.instructions, props.id)} openId={openId} task={part} />
}
