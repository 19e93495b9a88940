import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button, Input, Radio, Select } from 'antd'
import { useState } from 'react'
import { useApp } from '../../app/context'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import { offers } from '../../api/session'
import { FormDialog } from '../../components/FormDialog'
import { Icon } from '../../components/Icon'
import { ProblemNote } from '../../components/ProblemNote'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import type { SpecialProps } from '../objects/special'
import { addExample, exampleKey, listExamples, mostBytes, mostExamples, pictureOf, sendPicture, type Example } from './examples'
import { normalize, pathsOf } from './model'

/** On the page of a label set: the pictures of each label, and those who may add more. */
export function LabelExamples({ item }: SpecialProps) {
  const { t } = useI18n()
  const { session, project, kind } = useApp()
  const [adding, setAdding] = useState(false)
  const examples = useQuery({ queryKey: exampleKey(item.id), queryFn: ({ signal }) => listExamples(item.id, signal) })
  const own = item.project?.id === project?.id
  const of = kind('label_example')
  const mayAdd = own && of !== undefined && offers(session, of, 'create', project?.id)
  const mayDelete = own && of !== undefined && offers(session, of, 'delete', project?.id)
  const labels = pathsOf(normalize(item['labels']))
  const all = examples.data ?? []
  return (
    <section className="examples" aria-label={t('examples.title')}>
      <header className="row">
        <h2 className="grow">{t('examples.title')}</h2>
        {mayAdd && labels.length > 0 && <Button icon={<Icon name="plus" size={12} />} onClick={() => setAdding(true)}>{t('examples.add')}</Button>}
      </header>
      {examples.error && <ProblemNote error={examples.error} />}
      {examples.data && all.length === 0 && <p className="muted">{t('examples.none')}</p>}
      {labels.filter((l) => all.some((e) => e.label === l.path)).map((l) => (
        <div key={l.path}>
          <h3><span className="chip"><span className="dot" style={{ background: l.color }} aria-hidden="true" />{l.path}</span></h3>
          <ul className="example-list">
            {all.filter((e) => e.label === l.path).map((e) => <ExampleCard key={e.id} set={item} example={e} mayDelete={mayDelete} />)}
          </ul>
        </div>
      ))}
      {adding && <AddExample set={item} examples={all} onClose={() => setAdding(false)} />}
    </section>
  )
}

function ExampleCard({ set, example, mayDelete }: { set: Item; example: Example; mayDelete: boolean }) {
  const i18n = useI18n()
  const { t } = i18n
  const { modal, message } = App.useApp()
  const client = useQueryClient()
  const ask = () => void modal.confirm({
    title: t('examples.removeTitle'), content: t('examples.removeText'), okText: t('object.delete'), okButtonProps: { danger: true }, icon: null,
    onOk: async () => {
      try {
        await request(`/label-sets/${set.id}/examples/${example.id}`, { method: 'DELETE' })
        await invalidate(client, 'label_example')
      } catch (error) {
        void message.error(problemText(error, i18n))
      }
    },
  })
  return (
    <li className={example.wrong ? 'example wrong' : 'example'}>
      <img src={pictureOf(set.id, example.id)} alt={example.caption || example.label} loading="lazy" />
      <p><strong>{example.wrong ? t('examples.wrong') : t('examples.right')}</strong> {example.caption}</p>
      {mayDelete && <Button type="text" size="small" aria-label={t('examples.remove', { name: example.caption || example.label })} icon={<Icon name="close" size={13} />} onClick={ask} />}
    </li>
  )
}

function AddExample({ set, examples, onClose }: { set: Item; examples: readonly Example[]; onClose: () => void }) {
  const { t } = useI18n()
  const { project } = useApp()
  const client = useQueryClient()
  const [label, setLabel] = useState<string | null>(null)
  const [file, setFile] = useState<File | null>(null)
  const [caption, setCaption] = useState('')
  const [wrong, setWrong] = useState(false)
  const labels = pathsOf(normalize(set['labels']))
  const full = label !== null && examples.filter((e) => e.label === label).length >= mostExamples
  const large = file !== null && file.size > mostBytes
  const add = useMutation({
    mutationFn: async () => {
      if (!file || label === null || !project) return
      await addExample(set.id, { label, caption: caption.trim(), wrong, upload: await sendPicture(project.id, file) })
    },
    onSuccess: async () => {
      await invalidate(client, 'label_example')
      onClose()
    },
  })
  const title = t('examples.add')
  return (
    <FormDialog
      title={title} dirty={label !== null || file !== null || caption !== ''} busy={add.isPending} submitText={title} submittable={label !== null && file !== null && !full && !large} onClose={onClose}
      error={add.error ? <ProblemNote error={add.error} /> : null} onSubmit={() => add.mutate()}
    >
      <p className="field-help">{t('examples.help')}</p>
      <div className="field">
        <label htmlFor="example-label">{t('relabel.label')}</label>
        <Select id="example-label" autoFocus showSearch value={label} onChange={setLabel} options={labels.map((l) => ({ value: l.path, label: l.path }))} />
        {full && <p className="field-error" role="alert">{t('examples.full', { n: mostExamples })}</p>}
      </div>
      <div className="field">
        <label htmlFor="example-file">{t('examples.picture')}</label>
        <input id="example-file" type="file" accept="image/png,image/jpeg,image/webp,image/bmp,image/tiff,image/gif" onChange={(e) => setFile(e.target.files?.[0] ?? null)} />
        {large && <p className="field-error" role="alert">{t('examples.large', { n: mostBytes >> 20 })}</p>}
      </div>
      <div className="field">
        <label htmlFor="example-caption">{t('examples.caption')}</label>
        <Input id="example-caption" value={caption} maxLength={500} onChange={(e) => setCaption(e.target.value)} />
      </div>
      <Radio.Group value={wrong} onChange={(e) => setWrong(e.target.value as boolean)} options={[{ value: false, label: t('examples.showsRight') }, { value: true, label: t('examples.showsWrong') }]} />
    </FormDialog>
  )
}
