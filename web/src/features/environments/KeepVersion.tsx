import { useMutation, useQueryClient } from '@tanstack/react-query'
import { AutoComplete, Button, Input, Modal, Segmented } from 'antd'
import { useState, type ReactNode } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import { Problem, request } from '../../api/client'
import type { Item, Ref } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import { may } from '../../api/session'
import { FormDialog } from '../../components/FormDialog'
import { ProblemNote } from '../../components/ProblemNote'
import { RefSelect } from '../../components/RefSelect'
import { checkField } from '../../components/rules'
import { useI18n } from '../../i18n'
import { TaskView } from '../tasks/TaskView'
import { useFolders } from './environments'

const sorts = ['algorithm_set', 'model_set'] as const
const usual = 'persistent-model'
type Sort = (typeof sorts)[number]

/** Its path below /workspace: typed, or chosen level by level. */
function FolderInput({ item, value, onChange, invalid }: { item: Item; value: string; onChange: (value: string) => void; invalid: boolean }) {
  const { t } = useI18n()
  const slash = value.lastIndexOf('/')
  const around = useFolders(item, slash < 0 ? '' : value.slice(0, slash), true)
  const below = useFolders(item, value, around.some((one) => one.path === value))
  const options = [...around.filter((one) => one.path.startsWith(value)), ...below].map(({ path, mounted }) => ({
    value: path,
    label: <span className="row"><span className="grow clip-line">{path}</span>{mounted && <span className="muted">{t('keep.mounted')}</span>}</span>,
  }))
  return (
    <AutoComplete
      id="keep-folder" className="mono" value={value} onChange={onChange} options={options} status={invalid ? 'error' : undefined} aria-invalid={invalid}
      placeholder={usual}
    />
  )
}

function Field({ id, title, error, help, children }: { id: string; title: string; error?: string | null; help?: string; children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={id}>{title}</label>
      {children}
      {error ? <p className="field-error" role="alert">{error}</p> : help ? <p className="field-help">{help}</p> : null}
    </div>
  )
}

/** What became of it: progress, report, and the version when it is there. */
function Kept({ task, onClose }: { task: number; onClose: () => void }) {
  const { t } = useI18n()
  const { project, kind } = useApp()
  const client = useQueryClient()
  const [over, setOver] = useState(false)
  const tasks = kind('task')
  const url = tasks ? itemUrl(tasks, task, project) : null
  return (
    <Modal
      open className="form-dialog" style={{ top: 40 }} title={t('keep.title')} onCancel={onClose} transitionName="" maskTransitionName=""
      footer={<>{url && <Link className="ant-btn" to={url}>{t('keep.task')}</Link>}<Button type="primary" onClick={onClose}>{t('keep.close')}</Button></>}
    >
      <TaskView
        id={task}
        onOver={() => {
          setOver(true)
          void Promise.all(['algorithm_set', 'model_set', 'algorithm_version', 'model_version'].map((name) => invalidate(client, name)))
        }}
      />
      {!over && <p className="field-help">{t('keep.goesOn')}</p>}
    </Modal>
  )
}

/** A folder of /workspace as a new version of an algorithm or a model. */
export function KeepVersion({ item, onClose }: { item: Item; onClose: () => void }) {
  const i18n = useI18n()
  const { t, w, sentence } = i18n
  const { session, project, kind } = useApp()
  const client = useQueryClient()
  const [folder, setFolder] = useState('')
  const [chosen, setChosen] = useState<Sort | null>(null)
  const [fresh, setFresh] = useState(false)
  const [set, setSet] = useState<Ref | null>(null)
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [task, setTask] = useState<number | null>(null)
  const action = kind('environment')?.actions.find((a) => a.name === 'keep')
  const sort = chosen ?? (/^(persistent-model|model)(\/|$)/.test(folder) ? 'model_set' : 'algorithm_set')
  const mayMake = may(session, `${sort}.create`, project?.id)
  const making = fresh && mayMake
  const nameField = action?.fields.find((f) => f.name === `new_${sort}`)
  const wrongName = making && nameField && name !== '' ? checkField(nameField, name, i18n, true) : null
  const ready = folder !== '' && (making ? name !== '' && !wrongName : set !== null)
  const keep = useMutation({
    mutationFn: () => request<Item>(`/environments/${item.id}/keep`, {
      method: 'POST',
      body: { folder: folder.replace(/\/+$/, ''), ...(making ? { [`new_${sort}`]: name } : { [sort]: set?.id }), ...(description ? { description } : {}) },
    }),
    onSuccess: async (answer) => {
      setTask(answer.id)
      await invalidate(client, 'task')
    },
  })
  const refused = keep.error instanceof Problem ? keep.error : null
  const at = (...fields: string[]) => (refused?.field && fields.includes(refused.field) ? sentence(refused.detail, refused.detailZh).replace(new RegExp(`^${refused.field}(: |：)`), '') : null)
  const folderError = at('folder')
  const titleOf = (name: Sort) => w(kind(name)?.title ?? { en: name, zh: name })
  const setError = at('algorithm_set', 'model_set', 'new_algorithm_set', 'new_model_set')
  if (task !== null) return <Kept task={task} onClose={onClose} />
  return (
    <FormDialog
      title={t('keep.title')} dirty={folder !== '' || name !== '' || description !== ''} submittable={ready} busy={keep.isPending} submitText={t('keep.do')} onClose={onClose}
      error={keep.error && !folderError && !setError ? <ProblemNote error={keep.error} /> : null}
      onSubmit={() => {
        if (ready) keep.mutate()
      }}
    >
      <p className="field-help">{t('keep.help')}</p>
      <Field id="keep-folder" title={t('keep.folder')} error={folderError} help={t('keep.folderHelp')}>
        <FolderInput
          item={item} value={folder} invalid={folderError !== null}
          onChange={(value) => {
            keep.reset()
            setFolder(value)
          }}
        />
      </Field>
      <div className="field">
        <span className="field-title" id="keep-sort">{t('keep.becomes')}</span>
        <div className="row wrap">
          <Segmented<Sort>
            aria-labelledby="keep-sort" value={sort} options={sorts.map((value) => ({ value, label: titleOf(value) }))}
            onChange={(value) => {
              keep.reset()
              setChosen(value)
              setSet(null)
            }}
          />
          {mayMake && (
            <Segmented<'old' | 'new'>
              aria-label={t('keep.set')} value={making ? 'new' : 'old'} options={[{ value: 'old', label: t('keep.old') }, { value: 'new', label: t('keep.new') }]}
              onChange={(value) => {
                keep.reset()
                setFresh(value === 'new')
                if (value === 'new' && name === '') setName(folder.replace(/\/+$/, '').split('/').at(-1) ?? '')
              }}
            />
          )}
        </div>
      </div>
      {making ? (
        <Field id="keep-name" title={t('keep.name')} error={wrongName ?? setError}>
          <Input id="keep-name" value={name} onChange={(e) => (keep.reset(), setName(e.target.value))} autoComplete="off" status={wrongName ?? setError ? 'error' : undefined} />
        </Field>
      ) : (
        <Field id="keep-set" title={titleOf(sort)} error={setError}>
          <RefSelect key={sort} id="keep-set" kindName={sort} value={set} onChange={(value) => (keep.reset(), setSet(value))} invalid={setError !== null} />
        </Field>
      )}
      <Field id="keep-description" title={t('keep.description')}>
        <Input.TextArea id="keep-description" value={description} onChange={(e) => setDescription(e.target.value)} maxLength={500} autoSize={{ minRows: 2, maxRows: 6 }} />
      </Field>
    </FormDialog>
  )
}
