import { useMutation, useQueryClient } from '@tanstack/react-query'
import { App, Button, Modal } from 'antd'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import { useOnce, useShown } from '../../components/hooks'
import { nameOf } from '../../components/names'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import type { Version } from './samples'

export function Publish({ version, onClose, onAsk }: { version: Version; onClose: () => void; onAsk?: () => void }) {
  const { t } = useI18n()
  const { message } = App.useApp()
  const client = useQueryClient()
  const name = `${nameOf(version.parentKind, version.parent)} ${nameOf(version.kind, version.item)}`
  const shown = useShown()
  const run = useMutation({
    mutationFn: () => request<Item>(`${version.path}/publish`, { method: 'POST', body: {} }),
    onSuccess: async (item) => {
      await invalidate(client, version.kind.name)
      // Of many samples a task makes the list: the tray shows how far it is.
      if (item['state'] === 'publishing') {
        await invalidate(client, 'task')
        void message.info(t('publish.begun', { name }))
      } else void message.success(t('publish.done', { name }))
      if (shown()) onClose()
    },
  })
  const publish = useOnce(() => run.mutateAsync().catch(() => undefined))
  return (
    <Modal
      open title={t('publish.ask', { name })} width={460} onCancel={onClose} transitionName="" maskTransitionName=""
      footer={<><Button onClick={onClose}>{t('form.cancel')}</Button>{onAsk && <Button onClick={onAsk}>{t('publishReview.askFirst')}</Button>}<Button type="primary" autoFocus loading={run.isPending} onClick={() => void publish()}>{t('publish.title')}</Button></>}
    >
      <p>{t('publish.text')}</p>
      {run.error && <ProblemNote error={run.error} />}
    </Modal>
  )
}
