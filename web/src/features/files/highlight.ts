// Which parts of a text are comments, strings, numbers and words of its language: enough to read it by, no parser.
export type Part = 'comment' | 'string' | 'number' | 'word'
export type Piece = readonly [text: string, part: Part | null]

interface Language {
  comments: string[]
  strings: string[]
  words: string
}

const doubleQuoted = '"(?:[^"\\\\\\n]|\\\\.)*"'
const singleQuoted = "'(?:[^'\\\\\\n]|\\\\.)*'"
const toLineEnd = (mark: string) => `${mark}[^\\n]*`
const block = '/\\*[^]*?(?:\\*/|$)'

const python: Language = {
  comments: [toLineEnd('#')], strings: ['"""[^]*?(?:"""|$)', "'''[^]*?(?:'''|$)", doubleQuoted, singleQuoted],
  words: 'and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield',
}
const shell: Language = {
  comments: ['(?<![^\\s])#[^\\n]*'], strings: ['"(?:[^"\\\\]|\\\\[^])*"', "'[^']*'"],
  words: 'case do done elif else esac exec exit export fi for function if in local return set then while ARG CMD COPY ENTRYPOINT ENV FROM RUN USER WORKDIR',
}
const data: Language = { comments: ['(?<![^\\s])#[^\\n]*'], strings: [doubleQuoted, singleQuoted], words: 'true false null yes no' }
const like: Language = {
  comments: [toLineEnd('//'), block], strings: [doubleQuoted, singleQuoted, '`(?:[^`\\\\]|\\\\[^])*`'],
  words: 'async auto await bool break case catch char class const continue default delete do double else enum export extends extern false final float fn for from func function go if implements import in inline int interface let long match mut new nil null package private protected pub public range return short signed sizeof static struct super switch template this throw true try type typedef undefined union unsigned use using var void volatile while',
}
const query: Language = { comments: [toLineEnd('--'), block], strings: [singleQuoted, doubleQuoted], words: 'and as by create delete from group having in insert into is join left limit not null on or order select set table update values where' }
const markup: Language = { comments: ['<!--[^]*?(?:-->|$)'], strings: [doubleQuoted, singleQuoted], words: '' }

const languages: Record<string, Language> = {
  ...Object.fromEntries(['py', 'pyi'].map((e) => [e, python])),
  ...Object.fromEntries(['sh', 'bash', 'zsh', 'dockerfile', 'makefile', 'mk'].map((e) => [e, shell])),
  ...Object.fromEntries(['json', 'jsonl', 'ipynb', 'yaml', 'yml', 'toml', 'ini', 'cfg', 'conf'].map((e) => [e, data])),
  ...Object.fromEntries(['c', 'h', 'cc', 'cpp', 'hpp', 'cu', 'java', 'js', 'jsx', 'mjs', 'ts', 'tsx', 'go', 'rs', 'swift', 'kt', 'proto'].map((e) => [e, like])),
  sql: query,
  ...Object.fromEntries(['xml', 'html', 'svg'].map((e) => [e, markup])),
}

/** Longer texts are shown as they are. */
const longest = 200_000

function languageOf(path: string): Language | undefined {
  const name = path.split('/').at(-1)?.toLowerCase() ?? ''
  return languages[name] ?? languages[name.split('.').at(-1) ?? '']
}

const order: readonly Part[] = ['comment', 'string', 'number', 'word']

/** The pieces of a text in their order; together they are the text. */
export function highlight(path: string, text: string): Piece[] {
  const language = languageOf(path)
  if (!language || text.length > longest) return [[text, null]]
  const words = language.words.split(' ').filter(Boolean)
  const groups = [language.comments.join('|'), language.strings.join('|'), '\\b(?:0x[\\da-fA-F]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)\\b', words.length > 0 ? `\\b(?:${words.join('|')})\\b` : '(?!)']
  const pattern = new RegExp(groups.map((g) => `(${g})`).join('|'), language === query ? 'gi' : 'g')
  const pieces: Piece[] = []
  let at = 0
  for (const found of text.matchAll(pattern)) {
    if (found[0] === '') continue
    if (found.index > at) pieces.push([text.slice(at, found.index), null])
    pieces.push([found[0], order[found.slice(1).findIndex((group) => group !== undefined)] ?? null])
    at = found.index + found[0].length
  }
  if (at < text.length) pieces.push([text.slice(at), null])
  return pieces
}
