import { useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button } from 'antd'
import { useState } from 'react'
import { useApp } from '../../app/context'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import { offers } from '../../api/session'
import { Icon } from '../../components/Icon'
import { ProblemNote } from '../../components/ProblemNote'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import type { SpecialProps } from '../objects/special'
import { AddExample, EditExample } from './ExampleForm'
import { exampleKey, examplesOf, listExamples, pictureOf, type Example, type OwnExample } from './examples'
import { normalize, pathsOf } from './model'

/** On the page of a label set: the pictures of each label, and those who may add more. */
export function LabelExamples({ item }: SpecialProps) {
  const { t } = useI18n()
  const { session, project, kind } = useApp()
  const [adding, setAdding] = useState(false)
  const [editing, setEditing] = useState<OwnExample | null>(null)
  const examples = useQuery({ queryKey: exampleKey(item.id), queryFn: ({ signal }) => listExamples(item.id, signal) })
  const own = item.project?.id === project?.id
  const of = kind('label_example')
  const mayAdd = own && of !== undefined && offers(session, of, 'create', project?.id)
  const mayEdit = own && of !== undefined && offers(session, of, 'update', project?.id)
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
      {labels.filter((l) => examplesOf(all, l).length > 0).map((l) => (
        <div key={l.path}>
          <h3><span className="chip"><span className="dot" style={{ background: l.color }} aria-hidden="true" />{l.path}</span></h3>
          <ul className="example-list">
            {examplesOf(all, l).map((e) => <ExampleCard key={e.id} set={item} example={e} mayDelete={mayDelete} onEdit={mayEdit ? () => setEditing(e) : undefined} />)}
          </ul>
        </div>
      ))}
      {adding && <AddExample set={item} examples={all} onClose={() => setAdding(false)} />}
      {editing && <EditExample key={editing.id} set={item} example={editing} onClose={() => setEditing(null)} />}
    </section>
  )
}

function ExampleCard({ set, example, mayDelete, onEdit }: { set: Item; example: Example; mayDelete: boolean; onEdit?: () => void }) {
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
  const name = example.caption || example.label
  return (
    <li className={example.wrong ? 'example wrong' : 'example'}>
      <img src={pictureOf(set.id, example.id)} alt={name} loading="lazy" />
      <p><strong>{example.wrong ? t('examples.wrong') : t('examples.right')}</strong> {example.caption}</p>
      <div className="example-tools">
        {onEdit && <Button type="text" size="small" aria-label={t('examples.edit', { name })} title={t('object.edit')} icon={<Icon name="edit" size={13} />} onClick={onEdit} />}
        {mayDelete && <Button type="text" size="small" aria-label={t('examples.remove', { name })} title={t('object.delete')} icon={<Icon name="close" size={13} />} onClick={ask} />}
      </div>
    </li>
  )
}
