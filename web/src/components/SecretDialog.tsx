import { Button, Modal } from 'antd'
import type { ReactNode } from 'react'
import { useI18n } from '../i18n'
import { CopyText } from './CopyText'

/** Something that is shown once and never again: it closes only by the button. */
export function SecretDialog(props: { title: string; label: string; secret: string; children?: ReactNode; onClose: () => void }) {
  const { t } = useI18n()
  return (
    <Modal
      open title={props.title} closable={false} maskClosable={false} keyboard={false} width={560} transitionName="" maskTransitionName=""
      footer={<Button type="primary" onClick={props.onClose}>{t('tokens.done')}</Button>}
    >
      <p>{t('tokens.secretText')}</p>
      <CopyText text={props.secret} label={props.label} />
      {props.children}
    </Modal>
  )
}
