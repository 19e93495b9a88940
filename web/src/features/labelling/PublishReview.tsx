import { useMutation, useQueryClient } from '@tanstack/react-query'
import { App, Button, Input } from 'antd'
import { useState } from 'react'
import { useApp } from '../../app/context'
import { request, type Schema } from '../../api/client'
import type { Item, Ref } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import { may } from '../../api/session'
import { FormDialog } from '../../components/FormDialog'
import { useShown } from '../../components/hooks'
import { ProblemNote } from '../../components/ProblemNote'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import './labelling.css'
import { PeopleSelect, ReviewTeamEdit } from './TeamEdit'

/** The last review of a version's publishing, as the version tells it. */
type Review = Schema<'VersionReview'>

function useAct(path: string, onDone: () => void) {
  const client = useQueryClient()
  const shown = useShown()
  return useMutation({
    mutationFn: ({ action, body }: { action: string; body?: Record<string, unknown> }) => request<Item>(`${path}/${action}`, { method: 'POST', body: body ?? {} }),
    onSuccess: async () => {
      await invalidate(client, 'dataset_version')
      await invalidate(client, 'label_task')
      if (shown()) onDone()
    },
  })
}

/** Asks a team, or some people, whether the version may be published. */
export function AskReview({ path, name, onClose }: { path: string; name: string; onClose: () => void }) {
  const { t } = useI18n()
  const { message } = App.useApp()
  const [team, setTeam] = useState<Ref | null>(null)
  const [people, setPeople] = useState<Ref[]>([])
  const act = useAct(path, () => {
    void message.success(t('publishReview.asked', { name }))
    onClose()
  })
  return (
    <FormDialog
      title={t('publishReview.ask', { name })} dirty={team !== null || people.length > 0} busy={act.isPending} submittable={team !== null || people.length > 0} submitText={t('publishReview.askButton')} onClose={onClose}
      error={act.error ? <ProblemNote error={act.error} /> : null}
      onSubmit={() => act.mutate({ action: 'request-review', body: { ...(team && { team: team.id }), reviewers: people.map((one) => one.id) } })}
    >
      <p>{t('publishReview.text')}</p>
      <div className="field"><label htmlFor="review-team">{t('labelTask.reviewTeam')}</label><ReviewTeamEdit id="review-team" value={team} onChange={(value) => setTeam(value as Ref | null)} onInvalid={() => undefined} /></div>
      <div className="field"><label htmlFor="review-people">{t('publishReview.people')}</label><PeopleSelect id="review-people" label={t('publishReview.people')} permission="review.update" value={people} onChange={setPeople} /></div>
    </FormDialog>
  )
}

/** Where a version's review stands, and what this person can do about it. Nothing where there is none. */
export function ReviewNote({ path, item, name }: { path: string; item: Item; name: string }) {
  const { t } = useI18n()
  const { session, project } = useApp()
  const [rejecting, setRejecting] = useState(false)
  const act = useAct(path, () => undefined)
  const review = item['review'] as Review | null | undefined
  if (!review) return null
  const open = item['state'] === 'reviewing'
  if (!open && (review.accepted !== false || item['state'] !== 'draft')) return null
  if (!open) return review.reason ? <p className="note" role="status">{t('publishReview.rejectedBy', { who: review.decided_by?.name ?? '', reason: review.reason })}</p> : null
  const mine = review.reviewers.some((one) => one.id === session.user.id) && review.asked_by?.id !== session.user.id
  return (
    <section className="note review-note" aria-label={t('publishReview.open')}>
      <div>
        <b>{t('publishReview.open')}</b>
        <p className="muted">{t('publishReview.askedBy', { who: review.asked_by?.name ?? '', reviewers: review.reviewers.map((one) => one.name).join(', ') })} · <Time at={review.asked_at} /></p>
        {act.error && <ProblemNote error={act.error} />}
      </div>
      <div className="row wrap">
        {mine && <Button type="primary" loading={act.isPending} onClick={() => act.mutate({ action: 'decide-publish', body: { accept: true } })}>{t('publishReview.accept')}</Button>}
        {mine && <Button danger onClick={() => setRejecting(true)}>{t('publishReview.reject')}</Button>}
        {may(session, 'dataset_version.update', project?.id) && <Button onClick={() => act.mutate({ action: 'withdraw-review' })}>{t('publishReview.withdraw')}</Button>}
      </div>
      {rejecting && <Reject path={path} name={name} onClose={() => setRejecting(false)} />}
    </section>
  )
}

function Reject({ path, name, onClose }: { path: string; name: string; onClose: () => void }) {
  const { t } = useI18n()
  const [reason, setReason] = useState('')
  const act = useAct(path, onClose)
  return (
    <FormDialog
      title={t('publishReview.rejectTitle', { name })} dirty={reason !== ''} busy={act.isPending} submittable={reason.trim() !== ''} submitText={t('publishReview.reject')} danger onClose={onClose}
      error={act.error ? <ProblemNote error={act.error} /> : null} onSubmit={() => act.mutate({ action: 'decide-publish', body: { accept: false, reason: reason.trim() } })}
    >
      <div className="field"><label htmlFor="reject-reason">{t('labelTask.reason')}</label><Input.TextArea id="reject-reason" rows={3} maxLength={1000} value={reason} onChange={(e) => setReason(e.target.value)} /><p className="field-help">{t('publishReview.reasonHelp')}</p></div>
    </FormDialog>
  )
}
