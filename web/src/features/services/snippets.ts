import type { Schema } from '../../api/client'

export type ServiceModel = Schema<'ServiceModel'>
type Graph = ServiceModel['graphs'][number]
type Tensor = Graph['inputs'][number]

export interface Snippet {
  name: string
  text: string
}

const key = '-H "Authorization: Bearer $INGOT_KEY"'

/** What a caller sends to predict, by what the model takes. */
const inputs = {
  picture: { file: 'picture.jpg', curl: '--data-binary @picture.jpg', python: 'open("picture.jpg", "rb")', javascript: "await readFile('picture.jpg')" },
  sound: { file: 'sound.wav', curl: '--data-binary @sound.wav', python: 'open("sound.wav", "rb")', javascript: "await readFile('sound.wav')" },
  text: { file: null, curl: '--data-binary "Good morning"', python: '"Good morning".encode()', javascript: "'Good morning'" },
}

export function inputOf(takes: ServiceModel['takes'] | undefined) {
  return inputs[takes ?? 'picture']
}

function predicting(url: string, model: ServiceModel): Snippet[] {
  const input = inputOf(model.takes)
  return [
    { name: 'curl', text: `curl ${key} ${input.curl} \\\n  ${url}` },
    { name: 'Python', text: `import os, requests\n\nanswer = requests.post(\n    "${url}",\n    headers={"Authorization": "Bearer " + os.environ["INGOT_KEY"]},\n    data=${input.python},\n)\nprint(answer.json()["annotation"])` },
    { name: 'JavaScript', text: `${input.file ? "import { readFile } from 'node:fs/promises'\n\n" : ''}const answer = await fetch('${url}', {\n  method: 'POST',\n  headers: { Authorization: \`Bearer \${process.env.INGOT_KEY}\` },\n  body: ${input.javascript},\n})\nconsole.log((await answer.json()).annotation)` },
  ]
}

const types: Record<string, string | undefined> = { BOOL: 'bool_', FP16: 'float16', FP32: 'float32', BF16: 'float32', FP64: 'float64', BYTES: 'object_' }

/** Free dimensions: one row, and enough of the others for most models. */
function shapeOf(tensor: Tensor): number[] {
  return tensor.shape.map((n, i) => (n >= 0 ? n : i === 0 ? 1 : 64))
}

/** Triton's client, which KServe's and others' servers are asked with, too. */
function triton(address: string, graph: Graph): Snippet {
  const host = address.replace(/^https?:\/\//, '')
  const numpy = (type: string) => types[type] ?? type.toLowerCase()
  const made = graph.inputs.map((one, i) => {
    const shape = JSON.stringify(shapeOf(one))
    const name = `x${graph.inputs.length > 1 ? i + 1 : ''}`
    return `${name} = triton.InferInput(${JSON.stringify(one.name)}, ${shape}, "${one.datatype}")\n${name}.set_data_from_numpy(np.zeros(${shape}, np.${numpy(one.datatype)}))\n`
  })
  const names = graph.inputs.map((_, i) => `x${graph.inputs.length > 1 ? i + 1 : ''}`).join(', ')
  const output = graph.outputs[0]?.name ?? ''
  return {
    name: 'tritonclient',
    text: `import os, numpy as np\nimport tritonclient.http as triton\n\nclient = triton.InferenceServerClient("${host}"${address.startsWith('https:') ? ', ssl=True' : ''})\n${made.join('')}answer = client.infer("${graph.name}", [${names}], headers={"Authorization": "Bearer " + os.environ["INGOT_KEY"]})\nprint(answer.as_numpy(${JSON.stringify(output)}))`,
  }
}

function reading(url: string): Snippet[] {
  return [
    { name: 'curl', text: `curl ${key} ${url}` },
    { name: 'Python', text: `import os, requests\n\nanswer = requests.get(\n    "${url}",\n    headers={"Authorization": "Bearer " + os.environ["INGOT_KEY"]},\n)\nprint(answer.status_code, answer.text)` },
    { name: 'JavaScript', text: `const answer = await fetch('${url}', {\n  headers: { Authorization: \`Bearer \${process.env.INGOT_KEY}\` },\n})\nconsole.log(answer.status, await answer.text())` },
  ]
}

/** Commands that work when copied, once $INGOT_KEY holds a key of the service. Of a model: what it takes; null: an image answers. */
export function snippets(address: string, model: ServiceModel | null): Snippet[] {
  if (!model) return reading(`${address}/`)
  const graph = model.graphs[0]
  const asked = model.predicts ? predicting(`${address}/predict`, model) : reading(`${address}/v2/models/${graph?.name ?? ''}`)
  return graph && graph.inputs.length > 0 ? [...asked, triton(address, graph)] : asked
}
