import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Input, Radio, Select } from 'antd'
import { useState } from 'react'
import { useApp } from '../../app/context'
import type { Item } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import { FormDialog } from '../../components/FormDialog'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import { addExample, changeExample, examplesOf, mostBytes, mostExamples, pictureOf, sendPicture, type Example, type OwnExample } from './examples'
import { normalize, pathsOf } from './model'

/** A sample whose picture becomes an example; label: what is likely meant. */
export interface ExampleSample {
  version: number
  id: number
  url: string
  label?: string | null
}

interface Props {
  set: Item
  examples: readonly Example[]
  /** The picture of a sample; without, one is chosen from the disk. */
  sample?: ExampleSample
  onClose: () => void
}

/** One more example: from a file, or of a sample. */
export function AddExample({ set, examples, sample, onClose }: Props) {
  const { t } = useI18n()
  const { project } = useApp()
  const client = useQueryClient()
  const labels = pathsOf(normalize(set['labels']))
  const likely = labels.find((l) => [l.path, l.full, l.name].includes(sample?.label ?? ''))?.path ?? null
  const [label, setLabel] = useState<string | null>(likely)
  const [file, setFile] = useState<File | null>(null)
  const [said, setSaid] = useState<Said>({ caption: '', wrong: false })
  const chosen = labels.find((l) => l.path === label)
  const full = chosen !== undefined && examplesOf(examples, chosen).length >= mostExamples
  const large = file !== null && file.size > mostBytes
  const add = useMutation({
    mutationFn: async () => {
      if (label === null || !project) return
      const picture = sample ? { version: sample.version, sample: sample.id } : file && { upload: await sendPicture(project.id, file) }
      if (picture) await addExample(set.id, { label, ...trimmed(said), ...picture })
    },
    onSuccess: async () => {
      await invalidate(client, 'label_example')
      onClose()
    },
  })
  const title = t(sample ? 'examples.use' : 'examples.add')
  return (
    <FormDialog
      title={title} dirty={label !== likely || file !== null || said.caption !== ''} busy={add.isPending} submitText={t('examples.add')} submittable={label !== null && (sample !== undefined || file !== null) && !full && !large} onClose={onClose}
      error={add.error ? <ProblemNote error={add.error} /> : null} onSubmit={() => add.mutate()}
    >
      {sample && <img className="example-preview" src={sample.url} alt={t('examples.picture')} />}
      <p className="field-help">{t('examples.help')}</p>
      <div className="field">
        <label htmlFor="example-label">{t('relabel.label')}</label>
        <Select id="example-label" autoFocus showSearch value={label} onChange={setLabel} options={labels.map((l) => ({ value: l.path, label: l.path }))} />
        {full && <p className="field-error" role="alert">{t('examples.full', { n: mostExamples })}</p>}
      </div>
      {!sample && (
        <div className="field">
          <label htmlFor="example-file">{t('examples.picture')}</label>
          <input id="example-file" type="file" accept="image/png,image/jpeg,image/webp,image/bmp,image/tiff,image/gif" onChange={(e) => setFile(e.target.files?.[0] ?? null)} />
          {large && <p className="field-error" role="alert">{t('examples.large', { n: mostBytes >> 20 })}</p>}
        </div>
      )}
      <SaidFields value={said} onChange={setSaid} />
    </FormDialog>
  )
}

/** Other words to an example, or the other meaning. */
export function EditExample({ set, example, onClose }: { set: Item; example: OwnExample; onClose: () => void }) {
  const { t } = useI18n()
  const client = useQueryClient()
  const before: Said = { caption: example.caption ?? '', wrong: example.wrong }
  const [said, setSaid] = useState(before)
  const dirty = said.caption.trim() !== before.caption || said.wrong !== before.wrong
  const save = useMutation({
    mutationFn: () => changeExample(set.id, example, trimmed(said)),
    onSuccess: async () => {
      await invalidate(client, 'label_example')
      onClose()
    },
  })
  return (
    <FormDialog
      title={t('examples.editTitle')} dirty={dirty} busy={save.isPending} submitText={t('form.save')} submittable={dirty} onClose={onClose}
      error={save.error ? <ProblemNote error={save.error} /> : null} onSubmit={() => save.mutate()}
    >
      <img className="example-preview" src={pictureOf(set.id, example.id)} alt={example.label} />
      <SaidFields value={said} onChange={setSaid} />
    </FormDialog>
  )
}

interface Said {
  caption: string
  wrong: boolean
}

const trimmed = ({ caption, wrong }: Said) => ({ caption: caption.trim(), wrong })

function SaidFields({ value, onChange }: { value: Said; onChange: (value: Said) => void }) {
  const { t } = useI18n()
  return (
    <>
      <div className="field">
        <label htmlFor="example-caption">{t('examples.caption')}</label>
        <Input id="example-caption" value={value.caption} maxLength={500} onChange={(e) => onChange({ ...value, caption: e.target.value })} />
      </div>
      <Radio.Group value={value.wrong} onChange={(e) => onChange({ ...value, wrong: e.target.value as boolean })} options={[{ value: false, label: t('examples.showsRight') }, { value: true, label: t('examples.showsWrong') }]} />
    </>
  )
}
