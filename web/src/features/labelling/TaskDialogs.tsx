import { useMutation, useQueryClient } from '@tanstack/react-query'
import { App, Button, Checkbox, InputNumber } from 'antd'
import { useState } from 'react'
import { useApp } from '../../app/context'
import type { Schema } from '../../api/client'
import type { Item, Ref } from '../../api/kinds'
import { invalidate, useItem } from '../../api/objects'
import { FormDialog } from '../../components/FormDialog'
import { useShown } from '../../components/hooks'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n, type Key } from '../../i18n'
import { refsOf, runAction } from './labelling'
import { partsOf, ratioOf } from './model'
import { PersonSelect } from './PersonSelect'

export type Step = 'open' | 'pause' | 'resume' | 'close' | 'cancel'

/** What each step means for the people at work. */
const texts: Record<Step, Key> = { open: 'labelTask.openText', pause: 'labelTask.pauseText', resume: 'labelTask.resumeText', close: 'labelTask.closeText', cancel: 'labelTask.cancelText' }

function useAct(task: Item, onClose: () => void) {
  const { t } = useI18n()
  const { message } = App.useApp()
  const client = useQueryClient()
  const shown = useShown()
  return useMutation({
    mutationFn: ({ action, body }: { action: string; title: string; body?: Record<string, unknown> }) => runAction(task.id, action, body),
    onSuccess: async (_, { title }) => {
      await invalidate(client, 'label_task')
      void message.success(t('object.doneToast', { action: title }))
      if (shown()) onClose()
    },
  })
}

export function StateDialog({ task, step, title, onClose }: { task: Item; step: Step; title: string; onClose: () => void }) {
  const { t, n } = useI18n()
  const [rest, setRest] = useState(false)
  const act = useAct(task, onClose)
  const parts = partsOf(task)
  const unreviewed = parts.labelled + parts.reviewing
  const undone = parts.waiting + parts.rejected + parts.skipped
  return (
    <FormDialog
      title={t('object.actionTitle', { action: title, name: String(task['name']) })} dirty={false} busy={act.isPending} submitText={title} danger={step === 'cancel'} onClose={onClose}
      error={act.error ? <ProblemNote error={act.error} /> : null} onSubmit={() => act.mutate({ action: step, title, body: step === 'close' ? { accept_rest: rest } : {} })}
    >
      <p>{t(texts[step])}</p>
      {step === 'close' && (
        <>
          {undone > 0 && <p className="note">{t('labelTask.closeUndone', { n: n(undone) })}</p>}
          {unreviewed > 0 && <Checkbox checked={rest} onChange={(e) => setRest(e.target.checked)}>{t('labelTask.acceptRest', { n: n(unreviewed) })}</Checkbox>}
        </>
      )}
    </FormDialog>
  )
}

/** More of one person's work is reviewed. */
export function Raise({ task, user, onClose }: { task: Item; user: Schema<'Reference'>; onClose: () => void }) {
  const { t } = useI18n()
  const act = useAct(task, onClose)
  const usual = Number(task['review_ratio'])
  const now = ratioOf(task, user.id) ?? usual
  const [ratio, setRatio] = useState<number | null>(now)
  const title = t('labelTask.raise')
  const run = (to: number | null) => act.mutate({ action: 'raise', title, body: { user: user.id, ...(to !== null && { ratio: to }) } })
  return (
    <FormDialog
      title={t('labelTask.raiseOf', { name: user.name ?? '' })} dirty={ratio !== now} busy={act.isPending} submittable={ratio !== null && ratio !== now} submitText={t('labelTask.keep')} onClose={onClose}
      error={act.error ? <ProblemNote error={act.error} /> : null} onSubmit={() => run(ratio !== null && ratio > usual ? ratio : null)}
    >
      <p>{t('labelTask.raiseText', { n: usual })}</p>
      <div className="field"><label htmlFor="raise-ratio">{t('labelTask.raisePercent')}</label><InputNumber id="raise-ratio" autoFocus min={usual} max={100} precision={0} value={ratio} onChange={setRatio} /></div>
      {now > usual && <Button onClick={() => run(null)}>{t('labelTask.asOthers')}</Button>}
    </FormDialog>
  )
}

/** Gives what one member holds to another of the same team. */
export function HandOver({ task, onClose }: { task: Item; onClose: () => void }) {
  const { t } = useI18n()
  const { kind, project } = useApp()
  const act = useAct(task, onClose)
  const [from, setFrom] = useState<Ref | null>(null)
  const [to, setTo] = useState<Ref | null>(null)
  const team = useItem(kind('team'), { project: project?.id }, (task['labelling_team'] as Ref | null)?.id ?? NaN)
  const reviewers = useItem(kind('team'), { project: project?.id }, (task['review_team'] as Ref | null)?.id ?? NaN)
  const people = [...new Map([...refsOf(team.data?.['members']), ...refsOf(reviewers.data?.['members'])].map((one) => [one.id, one])).values()]
  const title = t('labelTask.hand')
  return (
    <FormDialog
      title={t('object.actionTitle', { action: title, name: String(task['name']) })} dirty={from !== null || to !== null} busy={act.isPending} submittable={from !== null && to !== null && from.id !== to.id} submitText={title} onClose={onClose}
      error={act.error ? <ProblemNote error={act.error} /> : null} onSubmit={() => act.mutate({ action: 'hand', title, body: { from: from?.id, to: to?.id } })}
    >
      <p>{t('labelTask.handText')}</p>
      <div className="field"><label htmlFor="hand-from">{t('labelTask.handFrom')}</label><PersonSelect id="hand-from" people={people} value={from} onChange={setFrom} /></div>
      <div className="field"><label htmlFor="hand-to">{t('labelTask.handTo')}</label><PersonSelect id="hand-to" people={people.filter((one) => one.id !== from?.id)} value={to} onChange={setTo} /></div>
    </FormDialog>
  )
}
