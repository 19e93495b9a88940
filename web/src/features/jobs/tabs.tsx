import { Suspense, type ReactNode } from 'react'
import type { Item } from '../../api/kinds'
import { useSession } from '../../api/session'
import { Empty, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import type { Tab } from './ComputePage'
import { isOver } from './jobs'
import { lazyPart } from '../../app/part'

const Curves = lazyPart(() => import('./Curves'), 'JobCurves')
const Log = lazyPart(() => import('./LogTab'), 'LogTab')
const Events = lazyPart(() => import('./Events'), 'Events')
const Terminal = lazyPart(() => import('./Terminal'), 'TerminalTab')

function Loading({ children }: { children: ReactNode }) {
  return <Suspense fallback={<Skeleton n={2} />}>{children}</Suspense>
}

function NotStarted() {
  const { t } = useI18n()
  return <Empty title={t('job.notStarted')} text={t('job.notStartedHint')} />
}

/** The tabs of everything that runs as a job; `job` is undefined while there is none. `owner`: the environment or run that it belongs to. */
export function useJobTabs(job: Item | undefined, owner: Item | undefined = job): Tab[] {
  const { t } = useI18n()
  const user = useSession().data?.user
  const own = user !== undefined && (user.administrator || owner?.created_by?.id === user.id)
  const started = job !== undefined && Number(job['attempt']) > 0
  const guard = (content: (job: Item) => ReactNode) => () => (job && started ? <Loading>{content(job)}</Loading> : <NotStarted />)
  return [
    { name: 'curves', title: t('job.curves'), content: guard((j) => <Curves job={j} />) },
    { name: 'log', title: t('job.log'), content: guard((j) => <Log job={j} />) },
    { name: 'events', title: t('job.events'), content: () => (job ? <Loading><Events job={job} /></Loading> : <NotStarted />) },
    {
      name: 'terminal', title: t('job.terminal'),
      content: guard((j) => {
        if (isOver(j['state'])) return <Empty title={t('terminal.over')} text={t('terminal.overHint')} />
        return own ? <Terminal job={j} /> : <Empty title={t('terminal.others')} text={t('terminal.othersHint')} />
      }),
    },
  ]
}
