import { useQueryClient } from '@tanstack/react-query'
import { App, Button, Checkbox, Modal, Select } from 'antd'
import { useMemo, useState } from 'react'
import { Link, useParams } from 'react-router'
import { useApp } from '../../app/context'
import { request } from '../../api/client'
import type { Ref } from '../../api/kinds'
import { invalidate, useItem } from '../../api/objects'
import type { AnnotationType } from '../../canvas'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import type { Sample, Version } from '../datasets/samples'
import { normalize } from '../label-sets/model'
import { relabel } from './bulk'
import { openJournal } from './journal'
import { stateAt } from './past'
import { network } from './wire'

/** Relabels or deletes over the samples that are selected in the gallery, with undo. */
export function BulkDialog({ version, labels, chosen, count, onClose }: { version: Version; labels: readonly string[]; chosen: () => Promise<number[]>; count: number; onClose: () => void }) {
  const i18n = useI18n()
  const { t } = i18n
  const { session, project, kind } = useApp()
  const given = version.parent['label_set'] as Ref | null
  const set = useItem(kind('label_set'), { project: project?.id }, given?.id ?? NaN, given !== null)
  const names = useMemo(() => [...new Set([...normalize(set.data?.['labels']).flatMap((l) => [l.name, ...(l.children ?? []).map((c) => c.name)]), ...labels])], [set.data, labels])
  const { message } = App.useApp()
  const client = useQueryClient()
  const [from, setFrom] = useState<string | null>(null)
  const [to, setTo] = useState<string | null>(null)
  const [remove, setRemove] = useState(false)
  const [busy, setBusy] = useState(false)
  const { project: projectName, id, number } = useParams()
  /** Where it is chosen what is to stand. */
  const benchUrl = (sample: number) => `/p/${encodeURIComponent(projectName ?? '')}/datasets/${id}/v/${number}/label?sample=${sample}&troubles=1`
  const run = async () => {
    if (from === null || (!remove && to === null)) return
    setBusy(true)
    try {
      const done = await relabel({
        user: session.user.id, path: version.path, type: String(version.parent['annotation_type']) as AnnotationType, wire: network, journal: openJournal(),
        load: async (id) => {
          const sample = await request<Sample>(`${version.path}/samples/${id}`)
          // What nobody has touched since its import has no ids of its own: the state of a revision names them.
          const named = sample.annotation.shapes?.every((s) => s.id) ?? true
          return named ? sample : { ...sample, annotation: await stateAt({ path: version.path, sample: id }, sample.revision) as Sample['annotation'] }
        },
      }, await chosen(), from, remove ? null : to)
      await invalidate(client, 'dataset_version')
      const undo = async () => {
        message.destroy('bulk')
        await done.undo()
        await invalidate(client, 'dataset_version')
      }
      const [first] = done.troubled
      const parts = [
        t('bench.bulkDone', { n: done.samples }),
        ...(done.troubled.length > 0 ? [t('bench.bulkTroubled', { n: done.troubled.length })] : []),
        ...(done.unread > 0 ? [t('bench.bulkUnread', { n: done.unread })] : []),
        ...(done.waiting > 0 ? [t('bench.offline', { n: done.waiting })] : []),
      ]
      if (done.samples === 0 && parts.length === 1) void message.info(t('bench.bulkNone'))
      else void message.open({ key: 'bulk', type: parts.length > 1 ? 'warning' : 'success', duration: done.troubled.length > 0 ? 0 : 15, content: <span className="row wrap">{parts.join(' · ')}{first !== undefined && <Link to={benchUrl(first)} onClick={() => message.destroy('bulk')}>{t('bench.bulkChoose')}</Link>}<Button size="small" onClick={() => void undo()}>{t('gallery.undo')}</Button></span> })
      onClose()
    } catch (error) {
      void message.error(problemText(error, i18n))
      setBusy(false)
    }
  }
  const options = names.map((value) => ({ value, label: value }))
  return (
    <Modal open title={t('bench.bulk')} okText={t('bench.bulkRun')} confirmLoading={busy} okButtonProps={{ disabled: from === null || (!remove && (to === null || to === from)) }} onOk={() => void run()} onCancel={onClose} transitionName="" maskTransitionName="">
      <p>{t('bench.bulkText', { n: count })}</p>
      <div className="form">
        <div className="field"><label htmlFor="bulk-from">{t('bench.bulkFrom')}</label><Select id="bulk-from" showSearch value={from} options={options} onChange={setFrom} /></div>
        <Checkbox checked={remove} onChange={(e) => setRemove(e.target.checked)}>{t('bench.bulkDelete')}</Checkbox>
        {!remove && <div className="field"><label htmlFor="bulk-to">{t('bench.bulkTo')}</label><Select id="bulk-to" showSearch value={to} options={options} onChange={setTo} /></div>}
      </div>
    </Modal>
  )
}
