import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { childUrl, runsUrl } from '../../app/links'
import { NotFoundPage } from '../../app/pages'
import { request } from '../../api/client'
import type { Item, Kind, Page } from '../../api/kinds'
import { isRef, nameOf } from '../../components/names'
import { useTitle } from '../../components/hooks'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { StateTag } from '../jobs/State'
import { Crumbs } from '../objects/Head'
import { Curves, type Shown } from './Curves'
import { Differences } from './Differences'
import { idsOf } from './runs'
import { trainingOf } from './RunTable'
import './runs.css'

function useChosen(kind: Kind | undefined, project: number | undefined, ids: readonly number[]) {
  return useQuery({
    queryKey: ['objects', 'training_instance', 'list', 'chosen', project ?? 0, ids.join(',')],
    queryFn: async ({ signal }) => {
      const { items } = await request<Page>(`/${kind?.collection ?? ''}`, { query: { project, filter: `id in (${ids.join(', ')})`, limit: ids.length }, signal })
      return ids.flatMap((id) => items.find((item) => item.id === id) ?? [])
    },
    enabled: kind !== undefined && project !== undefined && ids.length > 0,
  })
}

const tabs = ['curves', 'differences'] as const

/** Some runs over and beside each other: the address names them, so it can be sent to somebody. */
export function ComparePage() {
  const { t } = useI18n()
  const { project, kind: byName } = useApp()
  const [params, setParams] = useSearchParams()
  const kind = byName('training_instance')
  const ids = idsOf(params.get('runs'))
  const found = useChosen(kind, project?.id, ids)
  const parent = byName('training')
  useTitle(t('runs.compare'), project?.name)
  if (!kind || !parent || !project) return <NotFoundPage />
  const now = tabs.find((tab) => tab === params.get('tab')) ?? 'curves'
  const items = found.data ?? []
  const several = new Set(items.map(trainingOf)).size > 1
  const nameIn = (run: Item) => (several && isRef(run['training']) ? `${run['training'].name} ${nameOf(kind, run)}` : nameOf(kind, run))
  const runs: Shown[] = items.map((item) => ({ item, name: nameIn(item), path: `/trainings/${trainingOf(item)}/${kind.plural}/${item.id}` }))
  const without = (id: number) => setParams((old) => { const next = new URLSearchParams(old); next.set('runs', ids.filter((one) => one !== id).join(',')); return next }, { replace: true })
  const to = (tab: string) => { const next = new URLSearchParams(params); next.set('tab', tab); return `?${next.toString()}` }
  return (
    <article className="detail">
      <Crumbs of={[{ url: runsUrl(project.name), title: t('runs.all') }]} />
      <header className="detail-head"><h1>{t('runs.compare')}</h1></header>
      {found.error && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {!found.error && ids.length > 0 && !found.data && <Skeleton n={2} />}
      {(ids.length === 0 || found.data?.length === 0) && <Empty title={t('runs.noneChosen')} text={t('runs.tickHint')} />}
      {items.length > 0 && (
        <>
          <ul className="runs-chosen" aria-label={t('runs.title')}>
            {runs.map(({ item, name }, i) => (
              <li key={item.id} className="tag">
                <i className={`chart-key chart-${i}`} aria-hidden="true" />
                <Link to={childUrl(kind, item.id, parent, trainingOf(item), project) ?? '#'}>{name}</Link> <StateTag state={String(item['state'])} />
                <button type="button" className="link" aria-label={t('runs.drop', { name })} onClick={() => without(item.id)}>×</button>
              </li>
            ))}
          </ul>
          {items.length < ids.length && <p className="muted" role="status">{t('runs.missing')}</p>}
          <nav className="tabs" aria-label={t('runs.compare')}>
            {tabs.map((tab) => <Link key={tab} to={to(tab)} aria-current={tab === now ? 'page' : undefined} replace>{t(`runs.tab.${tab}`)}</Link>)}
          </nav>
          {now === 'curves' ? <Curves runs={runs} scope={several ? `project-${project.id}` : `training-${trainingOf(items[0] as Item)}`} /> : <Differences kind={kind} runs={runs} />}
        </>
      )}
    </article>
  )
}
