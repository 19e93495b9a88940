import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useCallback, useState } from 'react'
import { request, type Schema } from '../../api/client'
import { useI18n } from '../../i18n'
import { ProblemNote } from '../../components/ProblemNote'
import { useOpenTab } from '../environments/openTab'
import { InstallTool } from '../tools/InstallTool'

type Board = Schema<'ToolAddress'>

/** Starts TensorBoard for a run, and links to it once it answers. */
export function TensorBoard({ path }: { path: string }) {
  const { t, sentence } = useI18n()
  const [wanted, setWanted] = useState(false)
  const board = useQuery({
    queryKey: ['tensorboard', path],
    queryFn: () => request<Board>(`${path}/tensorboard`, { method: 'POST', body: {} }),
    enabled: wanted,
    retry: false,
    refetchInterval: (query) => (query.state.error || query.state.data?.state === 'ready' ? false : query.state.data?.state === 'missing' ? 3000 : 1000),
  })
  const fresh = useCallback(async () => (await request<Board>(`${path}/tensorboard`, { method: 'POST', body: {} })).url, [path])
  const open = useOpenTab(fresh)
  if (board.error) return <><ProblemNote error={board.error} /><Button onClick={() => void board.refetch()}>{t('error.retry')}</Button></>
  if (wanted && board.data?.state === 'ready' && board.data.url) return <Button href={board.data.url} target="_blank" rel="noreferrer" onClick={open}>{t('tensorboard.open')}</Button>
  const { reason, reason_zh: zh, state } = board.data ?? {}
  if (wanted && state === 'missing') return <InstallTool name="tensorboard" />
  return (
    <>
      <Button loading={wanted} onClick={() => setWanted(true)}>{t(wanted ? 'tensorboard.starting' : 'tensorboard.start')}</Button>
      {wanted && reason && <span className="muted" role="status">{sentence(reason, zh)}</span>}
    </>
  )
}
