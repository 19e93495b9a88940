import { App } from 'antd'
import { Suspense, useMemo, useState } from 'react'
import { Problem, request } from '../../api/client'
import type { Field, Item, Kind } from '../../api/kinds'
import { itemPath, useSave, type Place } from '../../api/objects'
import { editorOf } from '../../components/editors'
import { FormBody, focusField } from '../../components/FormBody'
import { FormDialog } from '../../components/FormDialog'
import { changedFields, kept, outgoing, patchOf, type Values } from '../../components/merge'
import { useShown } from '../../components/hooks'
import { nameOf } from '../../components/names'
import { PlaceContext } from '../../components/place'
import { problemText } from '../../components/problem'
import { ProblemNote } from '../../components/ProblemNote'
import { formFields } from '../../components/rules'
import { useDraft } from '../../components/useDraft'
import { useForm } from '../../components/useForm'
import { useI18n } from '../../i18n'
import { MergeDialog } from './MergeDialog'
import { formAsides, formNotes } from './special'

interface Props {
  kind: Kind
  place: Place
  /** Absent: create. */
  item?: Item
  /** What a new one begins with. */
  preset?: Values
  onClose: () => void
  onSaved?: (item: Item) => void
}

/** Of an object of secrets the names are shown, in a field beside: "env_names" of "env". */
function valueOf(item: Item, field: Field): unknown {
  const names = field.secret ? item[`${field.name}_names`] : undefined
  return Array.isArray(names) ? Object.fromEntries(names.map((name) => [String(name), kept])) : item[field.name]
}

export function initialValues(kind: Kind, item: Item | undefined): Values {
  return Object.fromEntries(formFields(kind, item === undefined).map((f) => [f.name, item ? valueOf(item, f) : f.default]))
}

export function ObjectForm({ kind, place, item, preset, onClose, onSaved }: Props) {
  const i18n = useI18n()
  const { t, wl } = i18n
  const { message } = App.useApp()
  const creating = item === undefined
  const fields = useMemo(() => formFields(kind, creating), [kind, creating])
  // The object as it was when the form opened: live refreshes must not move the ground under it.
  const [base, setBase] = useState(item)
  const [initial, setInitial] = useState(() => ({ ...initialValues(kind, item), ...preset }))
  const form = useForm(fields, initial, creating)
  const save = useSave(kind, place)
  // It ends together with what is told of a refusal, not a moment later; what was saved is not sent again while the form goes.
  const [sending, setSending] = useState(false)
  const [failed, setFailed] = useState<unknown>(null)
  const [theirs, setTheirs] = useState<Item | null>(null)
  const shown = useShown()
  // Editors that keep what is typed begin anew with other values.
  const [round, setRound] = useState(0)

  useDraft(`${itemPath(kind, place, item?.id ?? 0)} ${place.project ?? 0}`, fields, initial, form, () => setRound(1))

  const submit = async (values: Values, was: Values, revision: number | undefined) => {
    setFailed(null)
    setSending(true)
    const sent = creating ? fields.filter((f) => values[f.name] !== undefined && values[f.name] !== null && values[f.name] !== '') : fields.filter((f) => f.name in values)
    try {
      const saved = await save.mutateAsync({ values: Object.fromEntries(sent.map((f) => [f.name, creating ? outgoing(f, values[f.name]) : patchOf(f, was[f.name], values[f.name])])), id: item?.id, revision })
      void message.success(t(creating ? 'object.createdToast' : 'object.savedToast', { name: nameOf(kind, saved) }))
      if (shown()) onClose()
      onSaved?.(saved)
    } catch (error) {
      if (!shown()) return void message.error(problemText(error, i18n))
      setTheirs(null)
      if (error instanceof Problem && error.status === 412 && item) {
        const fresh = await request<Item>(itemPath(kind, place, item.id)).catch(() => null)
        setTheirs(fresh && { ...fresh, ...initialValues(kind, fresh) })
        setFailed(error)
      } else if (!(error instanceof Problem && form.refuse(error))) setFailed(error)
      setSending(false)
    }
  }
  const onSubmit = () => {
    const wrong = form.check()
    if (wrong.length > 0) {
      focusField(`form-${wrong[0]}`)
      return
    }
    if (creating) return void submit(form.values, {}, undefined)
    const changed = changedFields(initial, form.values, fields)
    if (changed.length === 0) return onClose()
    void submit(Object.fromEntries(changed.map((name) => [name, form.values[name]])), initial, base?.revision)
  }
  const Note = (creating ? formNotes[`new.${kind.name}`] : undefined) ?? formNotes[kind.name]
  const Aside = (creating ? formAsides[`new.${kind.name}`] : undefined) ?? formAsides[kind.name]
  const wide = fields.some((f) => editorOf(kind.name, f)?.wide)
  return (
    <PlaceContext.Provider value={place}>
      <FormDialog
        title={creating ? t('object.createTitle', { title: wl(kind.title) }) : t('object.editTitle', { name: nameOf(kind, item) })}
        dirty={form.dirty} busy={sending} submitText={t(creating ? 'form.create' : 'form.save')} wide={wide} drawer
        aside={Aside && <Suspense fallback={null}><Aside values={form.values} place={place} onValues={form.setAll} /></Suspense>}
        error={failed && !theirs ? <ProblemNote error={failed} /> : null} onSubmit={onSubmit} onClose={onClose}
      >
        <FormBody key={round} fields={fields} kindName={kind.name} form={form} creating={creating} prefix="form">
          {Note && <Suspense fallback={null}><Note values={form.values} place={place} onValues={form.setAll} /></Suspense>}
        </FormBody>
      </FormDialog>
      {theirs && base && (
        <MergeDialog
          kind={kind} fields={fields} base={initial} mine={form.values} theirs={theirs} busy={sending}
          onSave={(values) => void submit(values, theirs, theirs.revision)}
          onReload={() => {
            const fresh = initialValues(kind, theirs)
            setBase(theirs)
            setInitial(fresh)
            form.replace(fresh)
            setRound(round + 1)
            setTheirs(null)
            setFailed(null)
          }}
          onClose={() => setTheirs(null)}
        />
      )}
    </PlaceContext.Provider>
  )
}
