import { Button, Dropdown } from 'antd'
import { Suspense, useState, type ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { listUrl } from '../../app/links'
import { apiUrl } from '../../api/client'
import { itemPath, useItem } from '../../api/objects'
import { may, offers } from '../../api/session'
import { AsidePart } from '../../components/Aside'
import { RefLink } from '../../components/FieldValue'
import { isRef } from '../../components/names'
import { Empty, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { ComputePage } from '../jobs/ComputePage'
import { isOver } from '../jobs/jobs'
import { JobTimes, ReasonNote } from '../jobs/JobPage'
import { StateTag } from '../jobs/State'
import { useJobTabs } from '../jobs/tabs'
import { AsideFacts } from '../objects/AsideFacts'
import { Dialogs, type Open } from '../objects/Dialogs'
import { MoreMenu } from '../objects/Head'
import { fits } from '../objects/fits'
import type { PageProps } from '../objects/special'
import './evaluations.css'
import { lazyPart } from '../../app/part'

const ReportTab = lazyPart(() => import('./ReportTab'), 'ReportTab')
const SamplesTab = lazyPart(() => import('./SamplesTab'), 'SamplesTab')
const CompareTab = lazyPart(() => import('./CompareTab'), 'CompareTab')

const subjects = ['model_version', 'service_version', 'layer'] as const
// Told elsewhere on the page.
const told = ['state', 'reason', 'reason_zh', 'name', 'description', 'figures', 'latency', 'done', 'total']

/** An evaluation: what was found out, where it fails, and against another one. */
export function EvaluationPage({ kind, place, item }: PageProps) {
  const { t, w, n, language } = useI18n()
  const { session, project, kind: byName } = useApp()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open | null>(null)
  const jobRef = isRef(item['job']) ? item['job'] : null
  const job = useItem(byName('job'), { project: project?.id }, jobRef?.id ?? NaN, jobRef !== null)
  const jobTabs = useJobTabs(job.data, item)
  const path = itemPath(kind, place, item.id)
  const over = isOver(item['state'])
  const done = item['state'] === 'completed'
  const subject = subjects.find((name) => isRef(item[name]))
  const subjectRef = subject && item[subject]
  const offered = (name: string) => kind.actions.find((a) => a.name === name && fits(kind, a, item) && may(session, a.permission, project?.id))
  const [start, stop] = [offered('start'), offered('stop')]
  const guard = (content: ReactNode) => (done
    ? <Suspense fallback={<Skeleton n={2} />}>{content}</Suspense>
    : <Empty title={t(over ? 'evaluation.none' : 'evaluation.notYet')} text={over ? undefined : t('evaluation.notYetText')} />)
  const total = Number(item['total'])
  const files = ['html', 'csv', 'json'].map((format) => ({ key: format, label: <a href={apiUrl(`/evaluations/${item.id}/report`, { format, lang: language })} download={`evaluation-${item.id}.${format}`}>{t(`evaluation.as.${format}` as 'evaluation.as.html')}</a> }))
  const menu = [
    ...(start && over ? [{ key: 'start', label: w(start.title) }] : []),
    ...(offers(session, kind, 'update', project?.id) ? [{ key: 'edit', label: t('object.edit') }] : []),
    ...(offers(session, kind, 'delete', project?.id) ? [{ key: 'delete', label: t('object.delete'), danger: true, disabled: !over }] : []),
  ]
  return (
    <ComputePage
      kind={kind} item={item}
      head={
        <>
          <StateTag state={String(item['state'])} />
          {!over && total > 0 && <span className="muted num">{t('evaluation.progress', { done: n(Number(item['done'])), total: n(total) })}</span>}
          <JobTimes job={job.data ?? item} />
          {subject && isRef(subjectRef) && <span><RefLink kindName={subject} value={subjectRef} /> {t('evaluation.on')} {isRef(item['dataset_version']) && <RefLink kindName="dataset_version" value={item['dataset_version']} />}</span>}
        </>
      }
      note={<>
        {typeof item['description'] === 'string' && item['description'] !== '' && <p className="lead pre">{item['description']}</p>}
        <ReasonNote item={item} failed={item['state'] === 'failed'} log={Number(job.data?.['attempt']) > 0} />
      </>}
      buttons={
        <>
          {done && <Dropdown trigger={['click']} menu={{ items: files }}><Button>{t('evaluation.download')}</Button></Dropdown>}
          {stop && !over && <Button danger disabled={item['state'] === 'stopping'} onClick={() => setOpen({ what: stop, item })}>{w(stop.title)}</Button>}
          <MoreMenu entries={menu} onPick={(key) => setOpen({ what: key === 'start' && start ? start : key === 'edit' ? 'edit' : 'delete', item })} />
        </>
      }
      tabs={[
        { name: 'report', title: t('evaluation.report'), content: () => guard(<ReportTab path={path} item={item} />) },
        { name: 'samples', title: t('evaluation.samples'), content: () => guard(<SamplesTab path={path} item={item} />) },
        { name: 'compare', title: t('evaluation.compare'), content: () => guard(<CompareTab kind={kind} path={path} item={item} />) },
        ...(jobRef ? jobTabs.filter((tab) => tab.name !== 'terminal') : []),
      ]}
      aside={<AsidePart title={t('object.facts')}><AsideFacts item={item} of={[{ kind, item, without: told }]} /></AsidePart>}
    >
      <Dialogs kind={kind} place={place} open={open} onClose={() => setOpen(null)} onDeleted={() => void navigate(listUrl(kind, project) ?? '/', { replace: true })} />
    </ComputePage>
  )
}
