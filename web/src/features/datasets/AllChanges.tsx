import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Button } from 'antd'
import { apiUrl, request } from '../../api/client'
import { invalidate } from '../../api/objects'
import { useApp } from '../../app/context'
import { useOnce } from '../../components/hooks'
import { ProblemNote } from '../../components/ProblemNote'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { TaskProgress } from '../tasks/TaskView'
import { isOver, useTasks, type Task } from '../tasks/tasks'
import { changes } from './changes'
import type { Version } from './samples'

/** Counts of all changes between two large versions, made by a task; the newest one is shown. */
export function AllChanges({ version, other }: { version: Version; other: number }) {
  const { t, n } = useI18n()
  const { project } = useApp()
  const client = useQueryClient()
  const made = useTasks(project?.id ?? 0, `type = "changes" and subject_kind = "dataset_version" and subject = ${version.item.id}`, 20, true)
  const task = made.data?.find((one) => (one['params'] as { with?: number } | null)?.with === other)
  const run = useMutation({
    mutationFn: () => request<Task>(`${version.path}/changes`, { method: 'POST', body: { with: other } }),
    onSuccess: () => invalidate(client, 'task'),
  })
  const count = useOnce(() => run.mutateAsync().catch(() => undefined))
  const result = task?.result
  return (
    <section className="panel">
      <p className="muted">{t('compare.large')}</p>
      {result && <dl className="facts facts-small">{changes.map((name) => <div key={name}><dt>{t(`change.${name}`)}</dt><dd className="num">{n(Number(result[name]))}</dd></div>)}</dl>}
      {task && !result && <TaskProgress task={task} compact />}
      <div className="row wrap">
        {(!task || isOver(task)) && <Button loading={run.isPending} onClick={() => void count()}>{t(task ? 'compare.countAgain' : 'compare.count')}</Button>}
        {task?.output && <Button href={apiUrl(`/tasks/${task.id}/download`)} download>{t('compare.download')}</Button>}
        {result && task.ended_at && <Time at={task.ended_at} />}
      </div>
      {run.error && <ProblemNote error={run.error} />}
    </section>
  )
}
