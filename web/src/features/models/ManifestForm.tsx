import { Button, Input, InputNumber, Select } from 'antd'
import { useEffect, useMemo } from 'react'
import { useI18n } from '../../i18n'
import type { Graph } from './graphs'
import { inputFields, isAbout, kindsOf, lines, needsLabels, outputFields, partOf, preparationOf, preparations, readingsOf, tasks, thresholdDefaults, thresholdsOf, tidied, withField, withItem, withNames, without, withoutPart, withOutput, withPart, withPartAs, withTask, type FormField, type InputKind, type Manifest, type Section } from './manifest'
import { choiceText, Labelled, ManifestField, type Wrong } from './ManifestField'

/** What is neither a graph nor the manifest: a vocabulary, a sample. */
const isAsset = (file: string) => !/\.(onnx|json)$/.test(file)

interface Props {
  manifest: Manifest
  /** All files of the version, by path. */
  files: readonly string[]
  /** Of each part. */
  graphs: readonly (Graph | undefined)[]
  wrong: Wrong | null
  onChange: (manifest: Manifest) => void
}

/** ingot-model.json by fields. */
export function ManifestForm({ manifest, files, graphs, wrong, onChange }: Props) {
  const { t } = useI18n()
  const error = (place: string) => (wrong && isAbout(wrong.field, place) ? wrong.reason : null)
  const exact = (place: string) => (wrong?.field === place ? wrong.reason : null)
  const change = (part: Partial<Manifest>) => onChange({ ...manifest, ...part })
  const onnx = files.filter((one) => one.endsWith('.onnx'))
  const graphOf = (section: Section) => graphs[manifest.parts.findIndex((one) => one.name === partOf(manifest, section))]
  useEffect(() => {
    const named = withNames(manifest, graphs)
    if (named !== manifest) onChange(named)
  }, [manifest, graphs, onChange])
  return (
    <div className="manifest-form">
      <Labelled id="manifest-task" title={t('manifest.task')} help={t('manifest.taskHelp')} error={exact('task')}>
        <Select id="manifest-task" value={manifest.task} onChange={(task: string) => onChange(withTask(manifest, task))} options={[...tasks].map((one) => ({ value: one, label: choiceText(one, t) }))} />
      </Labelled>
      {needsLabels(manifest.task) && <Labels manifest={manifest} graph={graphs[0]} error={error('labels')} onChange={(labels) => change({ labels })} />}
      {manifest.task === 'keypoints' && (
        <Labelled id="manifest-points" title={t('manifest.points')} help={t('manifest.linesHelp')} error={error('points')}>
          <Input.TextArea id="manifest-points" autoSize={{ minRows: 2, maxRows: 8 }} defaultValue={(manifest.points ?? []).join('\n')} onChange={(e) => change({ points: lines(e.target.value) })} />
        </Labelled>
      )}
      <Parts manifest={manifest} files={onnx} error={error} onChange={onChange} />
      {manifest.inputs.map((input, i) => (
        <InputSection key={i} index={i} input={input} manifest={manifest} files={files} names={graphOf(input)?.inputs.map((v) => v.name)} error={error} onChange={(next) => change({ inputs: withItem(manifest.inputs, i, next) })} />
      ))}
      {exact('inputs') && <p role="alert" className="field-error">{exact('inputs')}</p>}
      {manifest.outputs.map((output, i) => (
        <OutputSection key={i} index={i} output={output} manifest={manifest} files={files} names={graphOf(output)?.outputs.map((v) => v.name)} error={error} onChange={(next) => change({ outputs: withItem(manifest.outputs, i, next) })} />
      ))}
      {exact('outputs') && <p role="alert" className="field-error">{exact('outputs')}</p>}
      <div><Button size="small" onClick={() => onChange(withOutput(manifest, graphs))}>{t('manifest.addOutput')}</Button></div>
      <Thresholds manifest={manifest} error={error} onChange={onChange} />
      <Labelled id="manifest-sample" title={t('manifest.sample')} help={t('manifest.sampleHelp')} error={error('sample')}>
        <Select id="manifest-sample" allowClear showSearch value={manifest.sample ?? null} onChange={(sample: string | undefined) => onChange(withField(manifest, { name: 'sample', type: 'file' }, sample) as Manifest)} options={files.filter(isAsset).map((one) => ({ value: one, label: one }))} />
      </Labelled>
    </div>
  )
}

function Labels({ manifest, graph, error, onChange }: { manifest: Manifest; graph: Graph | undefined; error: string | null; onChange: (labels: string[]) => void }) {
  const { t, n } = useI18n()
  const count = manifest.labels?.length ?? 0
  // What the model tells of the number of its classes: the last dimension of a single output of two.
  const only = graph?.outputs.length === 1 ? graph.outputs[0]?.shape : undefined
  const wanted = only?.length === 2 && typeof only[1] === 'number' && manifest.task.endsWith('class') ? only[1] : null
  return (
    <Labelled id="manifest-labels" title={t('manifest.labels')} help={`${t('manifest.linesHelp')} ${t('manifest.labelsCount', { n: n(count) })}${wanted !== null && wanted !== count ? ` ${t('manifest.labelsWanted', { n: n(wanted) })}` : ''}`} error={error}>
      <Input.TextArea id="manifest-labels" spellCheck={false} autoSize={{ minRows: 3, maxRows: 10 }} defaultValue={(manifest.labels ?? []).join('\n')} status={error ? 'error' : undefined} onChange={(e) => onChange(lines(e.target.value))} />
    </Labelled>
  )
}

function Parts({ manifest, files, error, onChange }: { manifest: Manifest; files: readonly string[]; error: (place: string) => string | null; onChange: (manifest: Manifest) => void }) {
  const { t } = useI18n()
  const set = (i: number, part: Manifest['parts'][number]) => onChange(withPartAs(manifest, i, part))
  const add = () => onChange(withPart(manifest, files.find((f) => !manifest.parts.some((p) => p.file === f)) ?? ''))
  return (
    <fieldset className="manifest-section">
      <legend>{t('manifest.parts')}</legend>
      {manifest.parts.map((part, i) => (
        <div key={i} className="manifest-part">
          {manifest.parts.length > 1 && <Labelled id={`manifest-part-${i}`} title={t('model.name')} error={error(`parts[${i}].name`)}><Input id={`manifest-part-${i}`} value={part.name} onChange={(e) => set(i, { ...part, name: e.target.value })} /></Labelled>}
          <Labelled id={`manifest-file-${i}`} title={t('model.file')} error={error(`parts[${i}].file`)}><Select id={`manifest-file-${i}`} value={part.file} onChange={(file: string) => set(i, { ...part, file })} options={files.map((one) => ({ value: one, label: one }))} /></Labelled>
          {manifest.parts.length > 1 && <Button size="small" onClick={() => onChange(withoutPart(manifest, i))}>{t('manifest.remove')}</Button>}
        </div>
      ))}
      {error('parts') && !manifest.parts.some((_, i) => error(`parts[${i}].file`) ?? error(`parts[${i}].name`)) && <p role="alert" className="field-error">{error('parts')}</p>}
      {files.length > 1 && <div><Button size="small" onClick={add}>{t('manifest.addPart')}</Button></div>}
    </fieldset>
  )
}

interface SectionProps {
  index: number
  manifest: Manifest
  files: readonly string[]
  names: readonly string[] | undefined
  error: (place: string) => string | null
}

/** The fields that have something to say now; those that few need are folded away, unless one is wrong. */
function Fields({ place, fields, section, files, inputs, error, onChange }: { place: string; fields: readonly FormField[]; section: Section; files: readonly string[]; inputs?: readonly string[]; error: (place: string) => string | null; onChange: (section: Section) => void }) {
  const { t } = useI18n()
  const shown = fields.filter((f) => f.when?.(section) ?? true)
  const draw = (f: FormField) => <ManifestField key={f.name} place={`${place}.${f.name}`} field={f} section={section} names={f.type === 'file' ? files.filter(isAsset) : f.type === 'input' ? (inputs ?? []) : undefined} error={error(`${place}.${f.name}`)} onChange={(value) => onChange(tidied(withField(section, f, value), fields))} />
  const more = shown.filter((f) => f.more)
  return (
    <>
      <div className="manifest-fields">{shown.filter((f) => !f.more).map(draw)}</div>
      {more.length > 0 && (
        <details open={more.some((f) => error(`${place}.${f.name}`)) || undefined}>
          <summary>{t('manifest.more')}</summary>
          <div className="manifest-fields">{more.map(draw)}</div>
        </details>
      )}
    </>
  )
}

const nameField: FormField = { name: 'name', type: 'text' }

function PartOf({ id, manifest, section, error, onChange }: { id: string; manifest: Manifest; section: Section; error: string | null; onChange: (section: Section) => void }) {
  const { t } = useI18n()
  if (manifest.parts.length < 2) return null
  return (
    <Labelled id={id} title={t('manifest.part')} error={error}>
      <Select id={id} status={error ? 'error' : undefined} value={partOf(manifest, section)} onChange={(part: string) => onChange({ ...section, part })} options={manifest.parts.map((p) => ({ value: p.name, label: p.name }))} />
    </Labelled>
  )
}

function InputSection({ index, input, manifest, files, names, error, onChange }: SectionProps & { input: Section; onChange: (input: Section) => void }) {
  const { t } = useI18n()
  const place = `inputs[${index}]`
  const may = kindsOf(manifest.task)
  const kind = (may.includes(input['kind'] as InputKind) ? input['kind'] : may[0]) as InputKind
  const preparation = preparationOf(input)
  const presets = useMemo(() => Object.keys(preparations).map((one) => ({ value: one, label: t(`manifest.preparation.${one as 'unit' | 'imagenet' | 'around' | 'raw'}`) })), [t])
  const prepare = (name: string) => {
    const rest = without(input, ['scale', 'mean', 'deviation'])
    const wanted = preparations[name]
    const fields = inputFields.picture.filter((f) => f.name === 'scale' || f.name === 'mean' || f.name === 'deviation')
    onChange(fields.reduce((section, f) => withField(section, f, wanted?.[f.name as 'scale' | 'mean' | 'deviation']), rest))
  }
  return (
    <fieldset className="manifest-section">
      <legend>{manifest.inputs.length > 1 ? t('manifest.inputOf', { n: String(index + 1) }) : t('manifest.input')}</legend>
      <div className="manifest-fields">
        <PartOf id={`manifest-input-part-${index}`} manifest={manifest} section={input} error={error(`${place}.part`)} onChange={onChange} />
        {may.length > 1 && (
          <Labelled id={`manifest-kind-${index}`} title={t('manifest.kind')} error={error(`${place}.kind`)}>
            <Select id={`manifest-kind-${index}`} value={kind} onChange={(next: InputKind) => onChange({ kind: next, name: input['name'], ...(input['part'] === undefined ? {} : { part: input['part'] }) })} options={may.map((one) => ({ value: one, label: choiceText(one, t) }))} />
          </Labelled>
        )}
        <ManifestField place={`${place}.name`} field={nameField} section={input} names={names ?? []} error={error(`${place}.name`)} onChange={(name) => onChange({ ...input, name })} />
        {kind === 'picture' && (
          <Labelled id={`manifest-preparation-${index}`} title={t('manifest.preparation')} help={t('manifest.preparationHelp')}>
            <Select id={`manifest-preparation-${index}`} value={preparation} placeholder={t('manifest.preparation.other')} onChange={prepare} options={presets} />
          </Labelled>
        )}
      </div>
      <Fields place={place} fields={inputFields[kind]} section={input} files={files} inputs={names?.filter((one) => one !== input['name'])} error={error} onChange={onChange} />
    </fieldset>
  )
}

function OutputSection({ index, output, manifest, files, names, error, onChange }: SectionProps & { output: Section; onChange: (output: Section | null) => void }) {
  const { t } = useI18n()
  const place = `outputs[${index}]`
  const reading = String(output['reading'])
  return (
    <fieldset className="manifest-section">
      <legend>{manifest.outputs.length > 1 ? t('manifest.outputOf', { n: String(index + 1) }) : t('manifest.output')}</legend>
      <div className="manifest-fields">
        <PartOf id={`manifest-output-part-${index}`} manifest={manifest} section={output} error={error(`${place}.part`)} onChange={onChange} />
        <ManifestField place={`${place}.name`} field={nameField} section={output} names={names ?? []} error={error(`${place}.name`)} onChange={(name) => onChange({ ...output, name })} />
        <Labelled id={`manifest-reading-${index}`} title={t('manifest.reading')} help={t('manifest.readingHelp')} error={error(`${place}.reading`)}>
          <Select id={`manifest-reading-${index}`} value={reading} onChange={(next: string) => onChange({ reading: next, name: output['name'], ...(output['part'] === undefined ? {} : { part: output['part'] }) })} options={readingsOf(manifest.task).map((one) => ({ value: one, label: choiceText(`as.${one}`, t).replace(/^as\./, '') }))} />
        </Labelled>
      </div>
      <Fields place={place} fields={outputFields[reading] ?? []} section={output} files={files} error={error} onChange={onChange} />
      {manifest.outputs.length > 1 && <div><Button size="small" onClick={() => onChange(null)}>{t('manifest.remove')}</Button></div>}
    </fieldset>
  )
}

function Thresholds({ manifest, error, onChange }: { manifest: Manifest; error: (place: string) => string | null; onChange: (manifest: Manifest) => void }) {
  const { t } = useI18n()
  const names = thresholdsOf(manifest.task)
  if (names.length === 0) return null
  const set = (name: string, value: number | null) => {
    const rest = without(manifest.thresholds ?? {}, [name])
    const next = value === null || value === thresholdDefaults[name] ? rest : { ...rest, [name]: value }
    onChange({ ...without(manifest, ['thresholds']), ...(Object.keys(next).length > 0 ? { thresholds: next } : {}) } as Manifest)
  }
  return (
    <fieldset className="manifest-section">
      <legend>{t('manifest.thresholds')}</legend>
      <div className="manifest-fields">
        {names.map((name) => (
          <Labelled key={name} id={`manifest-threshold-${name}`} title={t(`manifest.threshold.${name as 'score' | 'iou' | 'mask' | 'text' | 'point'}`)} error={error(`thresholds.${name}`)}>
            <InputNumber id={`manifest-threshold-${name}`} min={0} max={1} step={0.05} value={manifest.thresholds?.[name] ?? thresholdDefaults[name]} onChange={(value) => set(name, value)} />
          </Labelled>
        ))}
      </div>
    </fieldset>
  )
}
