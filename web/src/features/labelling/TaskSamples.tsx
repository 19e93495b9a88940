import { useInfiniteQuery } from '@tanstack/react-query'
import { Button, Select } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import type { Item } from '../../api/kinds'
import { formatDuration } from '../../components/format'
import { RefLink } from '../../components/FieldValue'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { versionUrl } from '../../app/links'
import { useI18n } from '../../i18n'
import { usePeople } from './TeamEdit'
import { fetchAssignments, versionRef, type AssignmentRow } from './labelling'

const states: AssignmentRow['state'][] = ['leased', 'submitted', 'skipped', 'accepted', 'rejected', 'returned']

/** Every sample that was given out: to whom, and what became of it. */
export function TaskSamples({ task }: { task: Item }) {
  const { t } = useI18n()
  const [state, setState] = useState<string | undefined>()
  const [user, setUser] = useState<number | null>(null)
  const people = usePeople('annotation.update') // owners need not see all users of the platform
  const found = useInfiniteQuery({
    queryKey: ['objects', 'label_task', 'assignments', task.id, state, user ?? undefined],
    queryFn: ({ pageParam, signal }) => fetchAssignments(task.id, { state, user: user ?? undefined, after: pageParam ?? undefined }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next,
  })
  const rows = found.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <section>
      <div className="tools">
        <Select className="facet" aria-label={t('versions.state')} placeholder={t('versions.state')} allowClear value={state ?? null} onChange={(value: string | null) => setState(value ?? undefined)} popupMatchSelectWidth={false} options={states.map((s) => ({ value: s, label: t(`labelCount.${s}`) }))} />
        <Select className="facet" aria-label={t('labelTask.member')} placeholder={t('labelTask.member')} allowClear showSearch optionFilterProp="label" value={user} onChange={(value: number | null) => setUser(value ?? null)} loading={people.isFetching} popupMatchSelectWidth={false} options={(people.data ?? []).map((one) => ({ value: one.id, label: one.name }))} />
      </div>
      {found.error && rows.length === 0 ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : found.isPending ? <Skeleton n={2} />
        : rows.length === 0 ? <Empty title={t(state || user ? 'list.noMatch' : 'labelTask.nothingGiven')} text={t(state || user ? 'list.noMatchHint' : 'labelTask.nobodyHint')} /> : <Rows task={task} rows={rows} />}
      {found.hasNextPage && <p className="more-link"><Button loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>{t('list.more')}</Button></p>}
    </section>
  )
}

function Rows({ task, rows }: { task: Item; rows: AssignmentRow[] }) {
  const { t, n, language } = useI18n()
  const { kind, project } = useApp()
  const version = versionRef(task)
  const dataset = kind('dataset')
  const number = /^v(\d+)$/.exec(version?.name ?? '')?.[1]
  const base = dataset && version?.of && number ? versionUrl(dataset, version.of.id, Number(number), project) : null
  return (
    <div className="table-box">
      <table className="table">
        <thead><tr><th scope="col">{t('labelTask.sample')}</th><th scope="col">{t('versions.state')}</th><th scope="col">{t('labelTask.stage')}</th><th scope="col">{t('labelTask.member')}</th><th scope="col">{t('labelTask.when')}</th><th scope="col" className="right">{t('labelTask.active')}</th><th scope="col" className="right">{t('labelTask.rejections')}</th><th scope="col">{t('labelTask.reason')}</th></tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td className="first">{base ? <Link className="row-name" to={`${base}?sample=${row.sample.id}`}>{row.sample.name}</Link> : row.sample.name}</td>
              <td><span className={`tag assignment-${row.state}`}>{t(`labelCount.${row.state}`)}</span></td>
              <td>{t(`labelStage.${row.stage}`)}</td>
              <td><RefLink kindName="user" value={row.user} /></td>
              <td><Time at={row.ended_at ?? row.begun_at} /></td>
              <td className="right num">{formatDuration(row.active_seconds, language)}</td>
              <td className="right num">{n(row.rejections)}</td>
              <td><span title={row.reason ?? undefined}>{row.reason}</span></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
