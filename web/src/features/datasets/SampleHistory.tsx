import { useQueryClient } from '@tanstack/react-query'
import { App, Button } from 'antd'
import { useState } from 'react'
import { request } from '../../api/client'
import { invalidate } from '../../api/objects'
import type { AnnotationType } from '../../canvas'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { HistoryList } from '../workbench/HistoryList'
import { stateAt, type Line } from '../workbench/past'
import type { Annotation, Sample, Version } from './samples'

/** An earlier state that is shown in place of the newest. */
export interface Past {
  revision: number
  annotation: Annotation
}

/** A line shows the sample as it was; the way back is an operation of its own. */
export function SampleHistory({ version, sample, past, onPast }: { version: Version; sample: Sample; past: Past | null; onPast: (past: Past | null) => void }) {
  const i18n = useI18n()
  const { t } = i18n
  const { message } = App.useApp()
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const place = { path: version.path, sample: sample.id }
  const restore = async (revision: number) => {
    setBusy(true)
    try {
      await request(`${version.path}/samples/${sample.id}/restore`, { method: 'POST', body: { revision }, revision: sample.revision })
      void message.success(t('sample.restored', { n: revision }))
      onPast(null)
    } catch (error) {
      void message.error(problemText(error, i18n))
    }
    await invalidate(client, 'dataset_version')
    setBusy(false)
  }
  const pick = (line: Line | null) => {
    if (!line) return onPast(null)
    stateAt(place, line.revision).then((annotation) => onPast({ revision: line.revision, annotation: annotation as Annotation }), (error: unknown) => void message.error(problemText(error, i18n)))
  }
  return (
    <section>
      <h2>{t('sample.history')}</h2>
      {past && (
        <p className="note row wrap">
          <span className="grow">{t('sample.revision', { n: past.revision })}</span>
          <Button size="small" onClick={() => onPast(null)}>{t('bench.showAfter')}</Button>
          {version.open && <Button size="small" type="primary" loading={busy} onClick={() => void restore(past.revision)}>{t('bench.restoreState')}</Button>}
        </p>
      )}
      <HistoryList place={place} type={String(version.parent['annotation_type']) as AnnotationType} stamp={sample.revision} picked={past?.revision ?? null} onPick={pick} />
    </section>
  )
}
