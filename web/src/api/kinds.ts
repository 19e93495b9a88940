// The description of kinds that GET /api/v1/kinds gives; see docs/api.md. Its shape is generic, so it is
// written here by hand; everything else comes from the generated schema.ts.
import type { Match } from './matches'

export interface Words {
  en: string
  zh: string
}

export type FieldType = 'text' | 'int' | 'real' | 'bool' | 'time' | 'choice' | 'ref' | 'refs' | 'texts' | 'json'

/** The parts of a form, in their order. */
export const sections = ['what', 'who', 'where', 'how', 'limits'] as const
export type Section = (typeof sections)[number]

export interface Choice {
  value: string
  title: Words
}

export interface Field {
  name: string
  type: FieldType
  title: Words
  help: Words | null
  required: boolean
  create: boolean
  update: boolean
  search: boolean
  sort: boolean
  filter: boolean
  unique: boolean
  secret: boolean
  list: boolean
  long: boolean
  virtual: boolean
  min: number | null
  max: number | null
  item_max: number | null
  rule: string | null
  choices: Choice[] | null
  ref: string | null
  default: unknown
  unit: string | null
  /** Few need it: forms fold it away. */
  advanced: boolean
  section: Section
  /** Where it is found in a container; NAME stands for its name. */
  mount: string | null
  /** Of an object in JSON: what it may have. */
  members?: Field[]
}

export interface Action {
  name: string
  on: 'item' | 'kind'
  method: 'GET' | 'POST'
  permission: string
  title: Words
  danger: boolean
  fields: Field[]
}

/** A figure of evaluations: its name in the API, and what people read. */
export interface FigureTitle {
  name: string
  title: Words
  /** One looks at it first. */
  main: boolean
  /** Less is better, and it is no share. */
  less: boolean
}

export interface Kinds {
  items: Kind[]
  figures: FigureTitle[]
}

export type Scope = 'platform' | 'project' | 'child' | 'own'
export type Verb = 'list' | 'read' | 'create' | 'update' | 'delete'

export interface Kind {
  name: string
  plural: string
  scope: Scope
  parent: string | null
  /** The path of all children in a project, whatever their parents. */
  collection: string | null
  menu: string | null
  title: Words
  titles: Words
  help: Words | null
  /** Objects may be made readable for every project. */
  public: boolean
  verbs: Verb[]
  permissions: Partial<Record<Verb | 'delete_any', string>>
  fields: Field[]
  actions: Action[]
}

export interface Ref {
  id: number
  name: string
  /** What it is a version or part of. */
  of?: Ref
}

/** Any object: the columns that every kind has, and its kind's own fields. */
export interface Item {
  id: number
  revision: number
  created_at: string
  updated_at: string
  created_by: Ref | null
  project?: Ref | null
  [field: string]: unknown
}

export interface Page {
  items: Item[]
  next: string | null
  /** null: more match the search than are counted. */
  total?: number | null
  /** Of a search: false when too many match to be sorted. */
  sorted?: boolean
  matches?: Match[][]
}

export interface Change {
  kind: string
  verb: string
  id: number
  project: number | null
  parent: number | null
}
