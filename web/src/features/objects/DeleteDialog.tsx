import { App, Button, Input, Modal } from 'antd'
import { useState } from 'react'
import { useApp } from '../../app/context'
import type { Item, Kind } from '../../api/kinds'
import { useCount, useDelete, type Place } from '../../api/objects'
import { useEscape, useOnce, useShown } from '../../components/hooks'
import { nameOf } from '../../components/names'
import { problemText } from '../../components/problem'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'

interface Props {
  kind: Kind
  place: Place
  item: Item
  onClose: () => void
  onDeleted?: () => void
}

/** What holds people's work: a slip must not delete it. */
const holding = ['project', 'dataset', 'algorithm_set', 'model_set', 'environment']

function ChildCount({ child, parent, id }: { child: Kind; parent: Kind; id: number }) {
  const { t, wl, n } = useI18n()
  const count = useCount(child, { parent: { kind: parent, id } })
  return count.data ? <li>{t('delete.holds', { children: t('delete.count', { n: n(count.data), what: wl(count.data === 1 ? child.title : child.titles) }) })}</li> : null
}

/** Says what will be lost; what holds other things asks for the name to be typed. */
export function DeleteDialog({ kind, place, item, onClose, onDeleted }: Props) {
  const i18n = useI18n()
  const { t, wl } = i18n
  const { message } = App.useApp()
  const { kinds } = useApp()
  const remove = useDelete(kind, place)
  const [typed, setTyped] = useState('')
  const [current] = useState(item)
  const name = nameOf(kind, current)
  const children = kinds.filter((k) => k.scope === 'child' && k.parent === kind.name && k.verbs.includes('list'))
  useEscape(onClose)
  const mustType = holding.includes(kind.name)
  const shown = useShown()
  const run = useOnce(async () => {
    const page = window.location.pathname
    try {
      await remove.mutateAsync(current)
      void message.success(t('object.deletedToast', { name }))
      if (shown()) onClose()
      // Whoever has gone on to another page stays there.
      if (window.location.pathname === page) onDeleted?.()
    } catch (error) {
      // Shown below from remove.error, unless the dialog was closed meanwhile.
      if (!shown()) void message.error(problemText(error, i18n))
    }
  })
  return (
    <Modal
      open title={t('delete.title', { name })} width={460} onCancel={onClose} transitionName="" maskTransitionName=""
      footer={
        <>
          <Button onClick={onClose}>{t('form.cancel')}</Button>
          <Button danger type="primary" loading={remove.isPending} disabled={mustType && typed !== name} autoFocus={!mustType} onClick={() => void run()}>{t('delete.confirm')}</Button>
        </>
      }
    >
      <p>{t('delete.warning', { title: wl(kind.title), name })}</p>
      {kind.name === 'environment' && <p>{t('delete.workspace')}</p>}
      {children.length > 0 && <ul className="references">{children.map((child) => <ChildCount key={child.name} child={child} parent={kind} id={current.id} />)}</ul>}
      {mustType && (
        <div className="field">
          <label htmlFor="delete-name">{t('delete.typeName', { name })}</label>
          <Input id="delete-name" autoFocus autoComplete="off" value={typed} onChange={(e) => setTyped(e.target.value)} onPressEnter={() => typed === name && void run()} />
        </div>
      )}
      {remove.error && <ProblemNote error={remove.error} />}
    </Modal>
  )
}
