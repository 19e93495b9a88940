import { useQueryClient } from '@tanstack/react-query'
import { App, Button, Checkbox, Modal, Select } from 'antd'
import { useMemo, useState } from 'react'
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
import { network } from './wire'

/** Relabels or deletes over the samples that are selected in the gallery, with undo. */
export function BulkDialog({ version, labels, chosen, count, onClose }: { version: Version; labels: readonly string[]; chosen: () => Promise<number[]>; count: number; onClose: () => void }) {
  const i18n = useI18n()
  const { t, n } = i18n
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
  const run = async () => {
    if (from === null || (!remove && to === null)) return
    setBusy(true)
    try {
      const done = await relabel({
        user: session.user.id, path: version.path, type: String(version.parent['annotation_type']) as AnnotationType, wire: network, journal: openJournal(),
        load: (id) => request<Sample>(`${version.path}/samples/${id}`),
      }, await chosen(), from, remove ? null : to)
      await invalidate(client, 'dataset_version')
      const undo = async () => {
        message.destroy('bulk')
        await done.undo()
        await invalidate(client, 'dataset_version')
      }
      if (done.samples === 0) void message.info(t('bench.bulkNone'))
      else void message.open({ key: 'bulk', type: done.refused > 0 ? 'warning' : 'success', duration: 15, content: <>{t('bench.bulkDone', { n: n(done.samples) })}{done.refused > 0 ? ` · ${t('bench.troubles', { n: done.refused })}` : ''} <Button size="small" onClick={() => void undo()}>{t('gallery.undo')}</Button></> })
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
