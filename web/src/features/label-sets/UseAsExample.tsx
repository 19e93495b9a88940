import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useState } from 'react'
import { useApp } from '../../app/context'
import type { Ref } from '../../api/kinds'
import { useItem } from '../../api/objects'
import { offers } from '../../api/session'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import { AddExample, type ExampleSample } from './ExampleForm'
import { exampleKey, listExamples } from './examples'

/** Makes a sample's picture an example of one of its dataset's labels; nothing for whoever may not, or where there are no labels. */
export function UseAsExample({ labelSet, sample }: { labelSet: Ref | null; sample: ExampleSample }) {
  const { t } = useI18n()
  const { session, project, kind } = useApp()
  const [open, setOpen] = useState(false)
  const set = useItem(kind('label_set'), { project: project?.id }, labelSet?.id ?? NaN, labelSet !== null)
  const of = kind('label_example')
  const own = set.data?.project?.id === project?.id
  const has = Array.isArray(set.data?.['labels']) && set.data['labels'].length > 0
  const may = own && has && of !== undefined && offers(session, of, 'create', project?.id)
  const examples = useQuery({ queryKey: exampleKey(labelSet?.id ?? 0), queryFn: ({ signal }) => listExamples(labelSet?.id ?? 0, signal), enabled: open })
  if (!may || !set.data) return null
  return (
    <>
      <Button size="small" icon={<Icon name="plus" size={12} />} onClick={() => setOpen(true)}>{t('examples.use')}</Button>
      {open && <AddExample set={set.data} examples={examples.data ?? []} sample={sample} onClose={() => setOpen(false)} />}
    </>
  )
}
