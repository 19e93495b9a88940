import { Select } from 'antd'
import type { Item } from '../../api/kinds'
import { useI18n } from '../../i18n'

interface Props {
  job: Item
  rank: number
  onRank: (rank: number) => void
  attempt?: number
  onAttempt?: (attempt: number) => void
}

/** Which container of a job: its node, and which try. Nothing when there is only one. */
export function RankPicker({ job, rank, onRank, attempt, onAttempt }: Props) {
  const { t } = useI18n()
  const nodes = Number(job['nodes']) || 1
  const attempts = Number(job['attempt']) || 1
  const upTo = (n: number, from: number) => Array.from({ length: n }, (_, i) => i + from)
  return (
    <>
      {nodes > 1 && <Select aria-label={t('job.node')} value={rank} onChange={onRank} options={upTo(nodes, 0).map((i) => ({ value: i, label: t('job.nodeN', { n: i }) }))} />}
      {attempts > 1 && onAttempt && <Select aria-label={t('job.attempt')} value={attempt} onChange={onAttempt} options={upTo(attempts, 1).reverse().map((i) => ({ value: i, label: t('job.attemptN', { n: i }) }))} />}
    </>
  )
}
