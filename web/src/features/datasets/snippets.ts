// Commands that work when they are copied, where one has signed in with `ingot login`.
import type { Kind } from '../../api/kinds'

export interface Taken {
  kind: Kind
  /** Of the project, and of the dataset or folder. */
  project: string
  name: string
  number: number
}

/** A name as one word of a shell. */
export function shellWord(text: string): string {
  return /^[\p{L}\p{N}_.:@%+=,-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** A name as a text of Python. */
export function pythonText(text: string): string {
  return `"${[...text].map((c) => (c === '"' || c === '\\' ? `\\${c}` : c < ' ' ? `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}` : c)).join('')}"`
}

/** How to get a version: on a command line, and in Python. */
export function snippets({ kind, project, name, number }: Taken): { name: string; text: string }[] {
  const data = kind.name === 'dataset'
  const file = name.replace(/[^\p{L}\p{N}_-]+/gu, '-').replace(/^-+|-+$/g, '') || kind.name
  const noun = kind.name.replaceAll('_', '-')
  const collection = kind.plural.replaceAll('-', '_')
  const version = shellWord(`${name}:v${number}`)
  const shell = `ingot ${noun} ${data ? 'export' : 'download'} ${version} --project ${shellWord(project)} --to ${shellWord(data ? `${file}.zip` : file)}`
  const begin = ['import ingot', '', 'client = ingot.Client()', `project = client.projects.find(${pythonText(project)})`]
  const where = `project=project, version="v${number}"`
  const own = data
    ? [`client.datasets.export(${pythonText(name)}, ${where}, path=${pythonText(`${file}.zip`)})`]
    : [`client.${collection}.download(${pythonText(name)}, ${pythonText(file)}, ${where})`]
  return [{ name: 'CLI', text: shell }, { name: 'Python', text: [...begin, ...own].join('\n') }]
}
