import { App, Button, Modal } from 'antd'
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { useBlocker } from 'react-router'
import { useI18n } from '../i18n'
import { useEscape } from './hooks'

interface Props {
  title: string
  dirty: boolean
  busy: boolean
  submitText: string
  /** False: there is nothing to submit yet. */
  submittable?: boolean
  danger?: boolean
  wide?: boolean
  /** A drawer of the whole height instead of a window in the middle. */
  drawer?: boolean
  /** What the values would mean: beside the fields where there is room, else below them. */
  aside?: ReactNode
  /** What failed as a whole; beside the buttons, as the fields may be many. */
  error?: ReactNode
  onSubmit: () => void
  onClose: () => void
  children: ReactNode
}

function widthOf({ drawer, wide, aside }: Props): string | number {
  return drawer ? `min(${aside ? 1080 : wide ? 820 : 600}px, 100vw)` : wide ? 760 : 520
}

/** A form in a dialog: Ctrl+Enter submits, leaving with unsaved input asks. The parent unmounts it. */
export function FormDialog(props: Props) {
  const { t } = useI18n()
  const { modal } = App.useApp()
  const { dirty, onClose, busy } = props
  const form = useRef<HTMLFormElement>(null)
  const [asking, setAsking] = useState(false)
  const submitted = useRef(false)
  // What was refused may be sent again as soon as that is to be seen.
  useLayoutEffect(() => {
    if (!busy) submitted.current = false
  }, [busy])

  const ask = useCallback(
    (leave: () => void, stay: () => void = () => undefined) => {
      setAsking(true)
      void modal.confirm({
        title: t('form.leaveTitle'), content: t('form.leaveText'), okText: t('form.leave'), cancelText: t('form.stay'), okButtonProps: { danger: true }, icon: null,
        onOk: leave, onCancel: stay, afterClose: () => setAsking(false),
      })
    },
    [modal, t],
  )
  const close = () => (dirty && !busy ? ask(onClose) : onClose())

  // The router forgets a blocker some time after the dialog has gone: a click in between must not be lost.
  const gone = useRef(false)
  useLayoutEffect(() => {
    gone.current = false
    return () => {
      gone.current = true
    }
  }, [])
  // What is being saved may lead to another page before the dialog has gone.
  const blocker = useBlocker(({ currentLocation, nextLocation }) =>
    dirty && !busy && !gone.current && currentLocation.pathname !== nextLocation.pathname)
  useEffect(() => {
    if (blocker.state === 'blocked') ask(() => blocker.proceed(), () => blocker.reset())
  }, [blocker, ask])
  useEffect(() => {
    if (!dirty) return
    const stop = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', stop)
    return () => window.removeEventListener('beforeunload', stop)
  }, [dirty])

  // The dialog takes the focus itself when it opens; typing should begin in the first field.
  const focusFirst = (opened: boolean) => {
    const first = form.current?.querySelector<HTMLElement>('input:not([hidden]), textarea, button')
    if (opened && !form.current?.contains(document.activeElement)) first?.focus()
  }
  useEscape(asking ? null : close)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      form.current?.requestSubmit()
    }
  }
  return (
    <Modal
      open className={props.drawer ? 'form-dialog form-drawer' : 'form-dialog'} style={{ top: props.drawer ? 0 : 40 }} title={props.title} width={widthOf(props)} onCancel={close} maskClosable={!dirty} keyboard={!asking} afterOpenChange={focusFirst} transitionName="" maskTransitionName=""
      footer={
        <>
          {props.error}
          <Button onClick={close}>{t('form.cancel')}</Button>
          <Button type="primary" danger={props.danger} loading={busy} disabled={props.submittable === false} onClick={() => form.current?.requestSubmit()}>{props.submitText}</Button>
        </>
      }
    >
      <form
        ref={form} className="form" noValidate onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault()
          if (busy || submitted.current) return
          // The second of two quick clicks may come before it is known that the first made the form busy.
          submitted.current = true
          window.setTimeout(() => {
            submitted.current = false
          }, 50)
          props.onSubmit()
        }}
      >
        {props.aside ? (
          <div className="form-columns">
            <div className="form">{props.children}</div>
            <aside className="form-aside" aria-label={t('form.aside')}>{props.aside}</aside>
          </div>
        ) : props.children}
        <input type="submit" hidden />
      </form>
    </Modal>
  )
}
