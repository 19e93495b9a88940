// ingot-model.json as a form has it: which fields there are for which kind of input and reading of an output, and what becomes of it
// when one of them changes. docs/models.md says what they mean; the server checks them.

export type Value = string | number | boolean | number[] | string[] | undefined
export type Section = Record<string, unknown>

export interface Manifest extends Section {
  ingot: number
  task: string
  labels?: string[]
  points?: string[]
  parts: { name: string; file: string }[]
  inputs: Section[]
  outputs: Section[]
  thresholds?: Record<string, number>
  sample?: string
}

/** What the form knows of a field; `more`: it is among those that few need. `when`: there is something to say only then. */
export interface FormField {
  name: string
  type: 'number' | 'numbers' | 'choice' | 'bool' | 'text' | 'file' | 'input' // input: the name of one of the graph's
  choices?: readonly string[]
  /** What it is when it is left out. */
  otherwise?: Value
  more?: boolean
  when?: (section: Section) => boolean
}

export const tasks = ['image-class', 'image-classes', 'detection', 'segmentation', 'keypoints', 'ocr', 'text-class', 'audio-class', 'embedding'] as const
export const kinds = ['picture', 'text', 'sound'] as const
export type InputKind = (typeof kinds)[number]

const kindOf: Record<string, InputKind | undefined> = { 'text-class': 'text', 'audio-class': 'sound' }

/** What the task works on; an embedding may be of anything. */
export function kindsOf(task: string): readonly InputKind[] {
  return task === 'embedding' ? kinds : [kindOf[task] ?? 'picture']
}

const follows = (s: Section) => Array.isArray(s['size']) && (s['size'] as number[]).includes(0)

const pictureFields: readonly FormField[] = [
  { name: 'size', type: 'numbers' },
  { name: 'longest', type: 'number', when: follows },
  { name: 'multiple', type: 'number', otherwise: 1, when: follows },
  { name: 'range', type: 'numbers', when: follows },
  { name: 'fit', type: 'choice', choices: ['stretch', 'letterbox', 'crop'], otherwise: 'stretch' },
  { name: 'crop', type: 'number', otherwise: 1, when: (s) => s['fit'] === 'crop' },
  { name: 'align', type: 'choice', choices: ['center', 'top-left'], otherwise: 'center', when: (s) => s['fit'] === 'letterbox' || s['fit'] === 'crop' },
  { name: 'pad', type: 'numbers', otherwise: 0, when: (s) => s['fit'] === 'letterbox' },
  { name: 'color', type: 'choice', choices: ['rgb', 'bgr', 'gray'], otherwise: 'rgb' },
  { name: 'scale', type: 'number', otherwise: 1 },
  { name: 'mean', type: 'numbers', otherwise: 0 },
  { name: 'deviation', type: 'numbers', otherwise: 1 },
  { name: 'layout', type: 'choice', choices: ['nchw', 'nhwc'], otherwise: 'nchw', more: true },
  { name: 'type', type: 'choice', choices: ['fp32', 'fp16', 'uint8'], otherwise: 'fp32', more: true },
  { name: 'resample', type: 'choice', choices: ['bilinear', 'nearest', 'bicubic', 'area'], otherwise: 'bilinear', more: true },
  { name: 'antialias', type: 'bool', otherwise: true, more: true },
  { name: 'scaled_decoding', type: 'bool', otherwise: false, more: true },
]

const words = (s: Section) => s['tokenizer'] !== 'ngrams'

export const inputFields: Record<InputKind, readonly FormField[]> = {
  picture: pictureFields,
  text: [
    { name: 'tokenizer', type: 'choice', choices: ['wordpiece', 'ngrams', 'characters'] },
    { name: 'vocab', type: 'file', when: words },
    { name: 'lowercase', type: 'bool', otherwise: true, when: (s) => s['tokenizer'] === undefined || s['tokenizer'] === 'wordpiece' },
    { name: 'length', type: 'number' },
    { name: 'counts', type: 'input', when: (s) => !words(s) },
    { name: 'mask', type: 'input', when: words },
    { name: 'types', type: 'input', when: words },
    { name: 'type', type: 'choice', choices: ['int64', 'int32'], otherwise: 'int64', more: true },
    { name: 'pad_to_length', type: 'bool', otherwise: false, more: true },
    { name: 'pad_id', type: 'number', more: true },
    { name: 'unknown_id', type: 'number', more: true },
  ],
  sound: [
    { name: 'rate', type: 'number' },
    { name: 'samples', type: 'number', otherwise: 0 },
    { name: 'cut', type: 'choice', choices: ['center', 'start'], otherwise: 'center', when: (s) => Number(s['samples']) > 0 },
    { name: 'rank', type: 'number', otherwise: 2, more: true },
    { name: 'scale', type: 'number', otherwise: 1, more: true },
  ],
}

const format: FormField = { name: 'format', type: 'choice', choices: ['xyxy', 'xywh', 'cxcywh', 'yxyx'], otherwise: 'xyxy' }
const unit: FormField = { name: 'unit', type: 'choice', choices: ['pixels', 'normalized'], otherwise: 'pixels' }
const cells: FormField = { name: 'unit', type: 'choice', choices: ['pixels', 'cells', 'normalized'], otherwise: 'pixels' }
const transposed: FormField = { name: 'transposed', type: 'bool', otherwise: false }
const background: FormField = { name: 'background', type: 'number' }
const activation: FormField = { name: 'activation', type: 'choice', choices: ['none', 'sigmoid', 'softmax'], otherwise: 'none' }
const layout: FormField = { name: 'layout', type: 'choice', choices: ['nchw', 'nhwc'], otherwise: 'nchw', more: true }
const stretch: FormField = { name: 'resample', type: 'choice', choices: ['nearest', 'bilinear'], otherwise: 'nearest', more: true }
const grid: readonly FormField[] = [cells, { name: 'stride', type: 'number', otherwise: 0 }, { name: 'center', type: 'number', otherwise: 0.5, more: true }]
const scores: readonly FormField[] = [background, { ...transposed, more: true }]

export const outputFields: Record<string, readonly FormField[] | undefined> = {
  softmax: scores,
  sigmoid: scores,
  scores,
  classes: [background],
  count: [],
  boxes: [format, unit, transposed],
  rows: [format, unit, transposed, { name: 'objectness', type: 'bool', otherwise: false }, activation],
  anchors: [{ name: 'anchors', type: 'file' }, { name: 'variances', type: 'numbers' }, format, transposed],
  heatmap: [activation, { name: 'peaks', type: 'bool', otherwise: true }, layout],
  ltrb: grid,
  wh: grid,
  offset: grid,
  argmax: [background, activation, stretch, layout],
  mask: [activation, { name: 'frame', type: 'choice', choices: ['input', 'box'], otherwise: 'input' }, stretch, layout],
  points: [unit, { name: 'yx', type: 'bool', otherwise: false }],
  'point-maps': [activation, { name: 'refine', type: 'bool', otherwise: false }, { name: 'stride', type: 'number', otherwise: 0 }, layout],
  'text-map': [activation, { name: 'unclip', type: 'number', otherwise: 1.5 }, layout],
  ctc: [{ name: 'characters', type: 'file' }, { name: 'blank', type: 'number', otherwise: 0 }, { name: 'space', type: 'bool', otherwise: false }, activation],
  vector: [{ name: 'pooling', type: 'choice', choices: ['none', 'mean', 'first'], otherwise: 'none' }, { name: 'normalize', type: 'bool', otherwise: false }],
}

const classes = ['softmax', 'sigmoid', 'scores'] as const
const readings: Record<string, readonly string[] | undefined> = {
  'image-class': classes,
  'image-classes': classes,
  'text-class': classes,
  'audio-class': classes,
  detection: ['rows', 'boxes', ...classes, 'classes', 'count', 'anchors', 'heatmap', 'ltrb', 'wh', 'offset'],
  segmentation: ['argmax', 'mask', 'boxes', ...classes, 'classes', 'count'],
  keypoints: ['points', 'point-maps'],
  ocr: ['text-map', 'ctc', 'softmax', 'scores'],
  embedding: ['vector'],
}

/** What the outputs of a task may be read as; the first is the likeliest. */
export function readingsOf(task: string): readonly string[] {
  return readings[task] ?? Object.keys(outputFields)
}

const thresholdsOfTask: Record<string, readonly string[] | undefined> = {
  'image-classes': ['score'],
  detection: ['score', 'iou'],
  segmentation: ['score', 'iou', 'mask'],
  keypoints: ['score', 'point'],
  ocr: ['text', 'score'],
  'text-class': ['score'],
  'audio-class': ['score'],
}
export const thresholdDefaults: Record<string, number> = { score: 0.5, iou: 0.6, mask: 0.5, text: 0.3, point: 0.3 }

export function thresholdsOf(task: string): readonly string[] {
  return thresholdsOfTask[task] ?? []
}

export function needsLabels(task: string): boolean {
  return task !== 'ocr' && task !== 'embedding'
}

/** Ways in which pixels become numbers that most models are trained with. */
export const preparations: Record<string, { scale: number; mean: number | number[]; deviation: number | number[] }> = {
  unit: { scale: 1 / 255, mean: 0, deviation: 1 },
  imagenet: { scale: 1 / 255, mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] },
  around: { scale: 1 / 255, mean: 0.5, deviation: 0.5 },
  raw: { scale: 1, mean: 0, deviation: 1 },
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The name of the preparation that an input has; null: another. */
export function preparationOf(input: Section): string | null {
  const near = (a: unknown, b: number) => Math.abs(Number(a ?? 1) - b) < 1e-6
  return Object.entries(preparations).find(([, p]) => near(input['scale'], p.scale) && same(input['mean'] ?? 0, p.mean) && same(input['deviation'] ?? 1, p.deviation))?.[0] ?? null
}

/** Numbers as they are written in one line: "0.485, 0.456, 0.406". One number stands for all. */
export function numbersText(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : value === undefined ? '' : String(value as number)
}

/** The numbers of a line; undefined when it is empty, null when one is none. */
export function parseNumbers(text: string, single: boolean): number | number[] | undefined | null {
  const parts = text.split(/[\s,，、]+/).filter(Boolean)
  if (parts.length === 0) return undefined
  const all = parts.map(Number)
  if (all.some((n) => !Number.isFinite(n))) return null
  return single && all.length === 1 ? (all[0] as number) : all
}

export function without<T>(section: Record<string, T>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(section).filter(([name]) => !names.includes(name)))
}

/** The section with one field changed; what is as it is without saying goes. */
export function withField(section: Section, field: FormField, value: unknown): Section {
  const rest = without(section, [field.name])
  return value === undefined || value === '' || same(value, field.otherwise) ? rest : { ...rest, [field.name]: value }
}

/** Without the fields that have nothing to say: what is not shown could not be mended. */
export function tidied(section: Section, fields: readonly FormField[]): Section {
  return without(section, fields.filter((f) => f.when && !f.when(section)).map((f) => f.name))
}

/** The part that an input or output is of: the first when it does not say. */
export function partOf(manifest: Manifest, section: Section): string | undefined {
  return typeof section['part'] === 'string' ? section['part'] : manifest.parts[0]?.name
}

type Shape = readonly unknown[] | null
type Ports = { inputs: readonly { name: string; shape?: Shape }[]; outputs: readonly { name: string }[] } | undefined

/** Width and height that a graph takes pictures in; 0 where it takes any. */
function sizeOf(shape: Shape | undefined): Section {
  if (shape?.length !== 4) return {}
  const last = shape[1] !== 1 && shape[1] !== 3 && (shape[3] === 1 || shape[3] === 3)
  const side = (at: number) => Math.max(0, Number(shape[at]) || 0) // a name: it is free
  return { size: last ? [side(2), side(1)] : [side(3), side(2)], ...(last ? { layout: 'nhwc' } : {}) }
}

/** A part more, called as its file is, with an input. */
export function withPart(manifest: Manifest, file: string): Manifest {
  const taken = (name: string) => manifest.parts.some((p) => p.name === name)
  const plain = file.replace(/^.*\//, '').replace(/\.onnx$/, '').toLowerCase().replace(/[^a-z0-9_-]+/g, '-').slice(0, 40)
  const name = plain && !taken(plain) ? plain : `part${manifest.parts.length + 1}`
  return { ...manifest, parts: [...manifest.parts, { name, file }], inputs: [...manifest.inputs, { kind: kindsOf(manifest.task)[0], name: '', part: name }] }
}

/** Another name or file of a part; what is of it follows the name. */
export function withPartAs(manifest: Manifest, index: number, part: { name: string; file: string }): Manifest {
  const before = manifest.parts[index]?.name
  const follow = (section: Section) => (section['part'] === before ? { ...section, part: part.name } : section)
  return { ...manifest, parts: withItem(manifest.parts, index, part), inputs: manifest.inputs.map(follow), outputs: manifest.outputs.map(follow) }
}

/** Without a part and all that is of it, said or not. */
export function withoutPart(manifest: Manifest, index: number): Manifest {
  const gone = manifest.parts[index]?.name
  const left = (section: Section) => partOf(manifest, section) !== gone
  return { ...manifest, parts: withItem(manifest.parts, index, null), inputs: manifest.inputs.filter(left), outputs: manifest.outputs.filter(left) }
}

/** An output more: of the first part that has none, else of the first; named as one of its graph that is not read yet. */
export function withOutput(manifest: Manifest, graphs: readonly Ports[]): Manifest {
  const of = (name: string) => manifest.outputs.filter((o) => partOf(manifest, o) === name)
  const at = Math.max(0, manifest.parts.findIndex((p) => of(p.name).length === 0))
  const part = manifest.parts[at]?.name ?? ''
  const reading = readingsOf(manifest.task).find((r) => !manifest.outputs.some((o) => o['reading'] === r)) ?? 'scores'
  const name = graphs[at]?.outputs.find((v) => !of(part).some((o) => o['name'] === v.name))?.name ?? ''
  return { ...manifest, outputs: [...manifest.outputs, { reading, name, ...(manifest.parts.length > 1 ? { part } : {}) }] }
}

/** With the names of inputs that only one can be, and the size it has, once the graph is known. The same manifest when there is nothing to fill in. */
export function withNames(manifest: Manifest, graphs: readonly Ports[]): Manifest {
  const graphOf = (section: Section) => graphs[manifest.parts.findIndex((p) => p.name === partOf(manifest, section))]
  const fill = (input: Section) => {
    const only = input['name'] === '' && graphOf(input)?.inputs.length === 1 ? graphOf(input)?.inputs[0] : undefined
    return only ? { ...input, name: only.name, ...(input['kind'] === 'picture' && input['size'] === undefined ? sizeOf(only.shape) : {}) } : input
  }
  const inputs = manifest.inputs.map(fill)
  return inputs.some((one, i) => one !== manifest.inputs[i]) ? { ...manifest, inputs } : manifest
}

export function withItem<T>(list: readonly T[], index: number, item: T | null): T[] {
  return item === null ? list.filter((_, i) => i !== index) : index === list.length ? [...list, item] : list.map((one, i) => (i === index ? item : one))
}

/** Another task: inputs of its kind, and outputs that it can be read from; what fits stays. */
export function withTask(manifest: Manifest, task: string): Manifest {
  const kind = kindsOf(task)
  const may = readingsOf(task)
  const inputs = manifest.inputs.map((one) => (kind.includes(one['kind'] as InputKind) ? one : { kind: kind[0], name: one['name'], ...(one['part'] === undefined ? {} : { part: one['part'] }) }))
  const outputs = manifest.outputs.map((one) => (may.includes(String(one['reading'])) ? one : { reading: may[0], name: one['name'], ...(one['part'] === undefined ? {} : { part: one['part'] }) }))
  const { labels, thresholds, ...rest } = manifest
  const kept = Object.fromEntries(Object.entries(thresholds ?? {}).filter(([name]) => thresholdsOf(task).includes(name)))
  return { ...rest, task, ...(needsLabels(task) ? { labels: labels ?? [] } : {}), inputs, outputs, ...(Object.keys(kept).length > 0 ? { thresholds: kept } : {}) }
}

/** The labels of a text with one in each line. */
export function lines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean)
}

/** Whether an error about this field belongs to this place of the form: "inputs[0].size" to "inputs[0].size", and "inputs[0].mean[1]" to "inputs[0].mean". */
export function isAbout(field: string | null | undefined, place: string): boolean {
  return !!field && (field === place || field.startsWith(`${place}[`) || field.startsWith(`${place}.`))
}

/** A manifest as it came, with what a form needs to be there. */
export function fromJson(value: unknown): Manifest | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const one = value as Section
  const list = (name: string) => (Array.isArray(one[name]) ? (one[name] as Section[]).filter((s) => typeof s === 'object' && s !== null) : [])
  return { ...one, ingot: 1, task: typeof one['task'] === 'string' ? one['task'] : 'image-class', parts: list('parts') as Manifest['parts'], inputs: list('inputs'), outputs: list('outputs') }
}
