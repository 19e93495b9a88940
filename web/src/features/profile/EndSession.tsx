import { Button, Modal } from 'antd'
import type { Item, Kind } from '../../api/kinds'
import { useDelete } from '../../api/objects'
import { useSignOut } from '../../api/session'
import { useOnce, useShown } from '../../components/hooks'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'

export function EndSession({ kind, item, onClose }: { kind: Kind; item: Item; onClose: () => void }) {
  const { t } = useI18n()
  const signOut = useSignOut()
  const end = useDelete(kind, {})
  const current = item['current'] === true
  const shown = useShown()
  const run = useOnce(async () => {
    if (current) return signOut()
    const ended = await end.mutateAsync(item).then(() => true, () => false)
    if (ended && shown()) onClose()
  })
  return (
    <Modal
      open title={t('sessions.revokeTitle')} width={440} onCancel={onClose} transitionName="" maskTransitionName=""
      footer={
        <>
          <Button onClick={onClose}>{t('form.cancel')}</Button>
          <Button danger type="primary" loading={end.isPending} autoFocus onClick={() => void run()}>{t('sessions.revoke')}</Button>
        </>
      }
    >
      <p>{current ? t('sessions.revokeSelf') : t('sessions.revokeText', { address: String(item['address'] ?? '') })}</p>
      {end.error && <ProblemNote error={end.error} />}
    </Modal>
  )
}
