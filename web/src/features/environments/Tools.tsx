import { Button, Tooltip } from 'antd'
import { useCallback } from 'react'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { useI18n } from '../../i18n'
import type { SpecialProps } from '../objects/special'
import { useAccess, type Access, type Tool } from './environments'
import { useOpenTab } from './openTab'
import '../jobs/compute.css'

/** Opens a tool in a new tab; says why not while it cannot. */
export function ToolButton({ item, tool, size }: { item: Item; tool: Tool; size?: 'small' }) {
  const { t, w, language } = useI18n()
  const fresh = useCallback(async () => (await request<Access>(`/environments/${item.id}/access`)).tools.find((each) => each.name === tool.name)?.url ?? null, [item.id, tool.name])
  const open = useOpenTab(fresh)
  const title = w(tool.title)
  if (tool.state === 'ready' && tool.url) {
    return <Button size={size} type={size ? 'default' : 'primary'} href={tool.url} target="_blank" rel="noreferrer" onClick={open} aria-label={t('tool.open', { tool: title })}>{title}</Button>
  }
  const reason = (language === 'zh' && tool.reason_zh) || tool.reason || t(tool.state === 'missing' ? 'tool.missing' : 'tool.starting')
  return <Tooltip title={reason}><Button size={size} disabled loading={tool.state === 'starting'} data-tool={tool.name}>{title}</Button></Tooltip>
}

function RunningTools({ item }: { item: Item }) {
  const access = useAccess(item)
  return <span className="row">{access.data?.tools.filter((tool) => tool.state !== 'missing').map((tool) => <ToolButton key={tool.name} item={item} tool={tool} size="small" />)}</span>
}

export function ToolsCell({ item }: SpecialProps) {
  const { t } = useI18n()
  return item['state'] === 'running' ? <RunningTools item={item} /> : <span className="muted">{t('value.none')}</span>
}
