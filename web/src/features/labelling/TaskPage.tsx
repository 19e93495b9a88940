import { Button } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl, listUrl } from '../../app/links'
import { may, offers } from '../../api/session'
import { AsidePart } from '../../components/Aside'
import { FieldValue, RefLink } from '../../components/FieldValue'
import { Time } from '../../components/Time'
import { useI18n, type Key } from '../../i18n'
import { ComputePage } from '../jobs/ComputePage'
import { LineageGraph } from '../lineage/LineageGraph'
import { AsideFacts } from '../objects/AsideFacts'
import { Dialogs, type Open } from '../objects/Dialogs'
import { MoreMenu } from '../objects/Head'
import type { PageProps } from '../objects/special'
import { Instructions } from './Instructions'
import { benchUrl, useNotes, useWork, versionRef } from './labelling'
import '../datasets/data.css'
import './labelling.css'
import { Members } from './Members'
import type { TaskState } from './model'
import { Questions } from './Questions'
import { TaskBar } from './TaskBar'
import { HandOver, StateDialog, type Step } from './TaskDialogs'
import { TaskSamples } from './TaskSamples'

/** The next step of a task's course, by its state; the first is the one to offer. */
const steps: Record<TaskState, readonly Step[]> = { draft: ['open', 'cancel'], open: ['pause', 'close', 'cancel'], paused: ['resume', 'close', 'cancel'], done: [], cancelled: [] }
const stepTitle: Record<Step, Key> = { open: 'labelTask.open', pause: 'labelTask.pause', resume: 'labelTask.resume', close: 'labelTask.close', cancel: 'labelTask.cancel' }
const counters = ['samples', 'labelled', 'reviewing', 'accepted', 'rejected', 'skipped']

export function TaskPage({ kind, place, item }: PageProps) {
  const { t } = useI18n()
  const { session, project } = useApp()
  const navigate = useNavigate()
  const [open, setOpen] = useState<Open | null>(null)
  const [step, setStep] = useState<Step | 'hand' | null>(null)
  const state = item['state'] as TaskState
  const mayOpen = may(session, 'label_task.open', project?.id)
  const owner = may(session, 'team.read', project?.id)
  const work = useWork(item.id, state === 'open')
  const notes = useNotes(item.id)
  const asked = notes.data?.filter((note) => !note.done).length ?? 0
  const url = itemUrl(kind, item.id, project) ?? ''
  const course = mayOpen ? steps[state] : []
  const [first, ...others] = course
  const menu = [
    ...others.map((name) => ({ key: name as string, label: t(stepTitle[name]), danger: name === 'cancel' })),
    ...(mayOpen && (state === 'open' || state === 'paused') ? [{ key: 'hand', label: t('labelTask.hand') }] : []),
    ...(offers(session, kind, 'update', project?.id) ? [{ key: 'edit', label: t('object.edit') }] : []),
    ...(offers(session, kind, 'delete', project?.id, item) ? [{ key: 'delete', label: t('object.delete'), danger: true }] : []),
  ]
  const choose = (key: string) => (key === 'edit' || key === 'delete' ? setOpen({ what: key, item }) : setStep(key as Step | 'hand'))
  const version = versionRef(item)
  const stateField = kind.fields.find((f) => f.name === 'state')
  return (
    <ComputePage
      kind={kind} item={item}
      head={
        <>
          {stateField && <FieldValue field={stateField} kindName={kind.name} value={state} item={item} />}
          {typeof item['deadline'] === 'string' && <span className="muted">{t('labelTask.until')} <Time at={item['deadline']} /></span>}
        </>
      }
      note={
        <>
          {typeof item['description'] === 'string' && item['description'] !== '' && <p className="lead pre">{item['description']}</p>}
          {version && <p className="muted">{t('labelTask.of')} <RefLink kindName="dataset_version" value={version} /></p>}
          <TaskBar task={item} legend />
        </>
      }
      buttons={
        <>
          {work.data?.label.mine && <Button type="primary" onClick={() => void navigate(benchUrl(url, 'label'))}>{t('labelTask.label')}</Button>}
          {work.data?.review.mine && <Button type={work.data.label.mine ? 'default' : 'primary'} onClick={() => void navigate(benchUrl(url, 'review'))}>{t('labelTask.review')}</Button>}
          {first && <Button type={state === 'draft' ? 'primary' : 'default'} onClick={() => setStep(first)}>{t(stepTitle[first])}</Button>}
          <MoreMenu entries={menu} onPick={choose} />
        </>
      }
      tabs={[
        ...(owner ? [{ name: 'progress', title: t('labelTask.progress'), content: () => <Members task={item} /> }, { name: 'samples', title: t('tab.samples'), content: () => <TaskSamples task={item} /> }] : []),
        { name: 'questions', title: asked > 0 ? t('labelTask.questionsOpen', { n: asked }) : t('labelTask.questions'), content: () => <Questions task={item} /> },
        { name: 'instructions', title: t('labelTask.instructions'), content: () => <Instructions task={item} /> },
        ...(owner ? [{ name: 'lineage', title: t('lineage.title'), content: () => <LineageGraph kind="label_task" id={item.id} /> }] : []),
      ]}
      aside={<AsidePart title={t('labelTask.settings')}><AsideFacts item={item} of={[{ kind, item, without: ['name', 'description', 'instructions', 'state', 'version', ...counters] }]} /></AsidePart>}
    >
      {step === 'hand' && <HandOver task={item} onClose={() => setStep(null)} />}
      {step !== null && step !== 'hand' && <StateDialog key={step} task={item} step={step} title={t(stepTitle[step])} onClose={() => setStep(null)} />}
      <Dialogs kind={kind} place={place} open={open} onClose={() => setOpen(null)} onDeleted={() => void navigate(listUrl(kind, project) ?? '/', { replace: true })} />
    </ComputePage>
  )
}
