import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Button } from 'antd'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import { request } from '../../api/client'
import { invalidate } from '../../api/objects'
import { may } from '../../api/session'
import { formatBytes } from '../../components/format'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import { TaskProgress } from '../tasks/TaskView'
import { useTask } from '../tasks/tasks'
import { useTool } from './tools'
import './tools.css'

/** In the place of a tool that is not installed: what it costs and a button, or whom to ask. Nothing where it is installed. */
export function InstallTool({ name, note }: { name: string; note?: string }) {
  const { t, n, sentence } = useI18n()
  const { session, kind } = useApp()
  const client = useQueryClient()
  const found = useTool(name)
  const tool = found.data
  const begin = useMutation({
    mutationFn: () => request(`/tools/${tool?.id ?? 0}/fetch`, { method: 'POST', body: {} }),
    onSettled: () => invalidate(client, 'tool'),
  })
  if (!tool || tool.state === 'ready') return null
  const installs = may(session, 'tool.fetch')
  const kindOf = kind('tool')
  const page = kindOf && itemUrl(kindOf, tool.id, null)
  const title = tool.title ?? name
  return (
    <div className="install-tool" role="group" aria-label={title}>
      <div className="row wrap">
        <span>{note ?? t('tool.notInstalled', { tool: title })} <span className="muted">{t('tool.cost', { bytes: formatBytes(tool.bytes ?? 0), minutes: n(Math.ceil(tool.minutes ?? 1)) })}</span></span>
        {tool.state !== 'fetching' && installs && <Button size="small" loading={begin.isPending} onClick={() => begin.mutate()}>{t(tool.state === 'failed' ? 'tool.again' : 'tool.install', { tool: title })}</Button>}
        {!installs && <span className="muted">{t('tool.ask')}</span>}
      </div>
      {tool.state === 'fetching' && (installs ? <Installing id={tool.task ?? null} /> : <p className="muted" role="status">{t('tool.installing', { tool: title })}</p>)}
      {tool.state === 'failed' && tool.reason && (
        <p className="field-error" role="alert">{sentence(tool.reason, tool.reason_zh)} {installs && page && <Link to={page}>{t('tool.log')}</Link>}</p>
      )}
      {begin.error && <ProblemNote error={begin.error} />}
    </div>
  )
}

function Installing({ id }: { id: number | null }) {
  const task = useTask(id)
  return task.data ? <TaskProgress task={task.data} compact /> : null
}
