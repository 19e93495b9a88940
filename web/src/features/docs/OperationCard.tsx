import { Segmented } from 'antd'
import { useEffect, useMemo, useState } from 'react'
import { useSession } from '../../api/session'
import { lastProject } from '../../app/prefs'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import { Code } from './Code'
import { exampleOf, type Noun, type Operation, type Parameter, type Reference, type Schema } from './reference'
import { SchemaTable } from './SchemaTable'
import { curl, python, slot, type Filled } from './snippets'
import { TryIt } from './TryIt'

type Schemas = Reference['schemas']

/** One thing that can be asked: folded until somebody wants to know. */
export function OperationCard({ noun, operation, schemas, here }: { noun: Noun; operation: Operation; schemas: Schemas; here: boolean }) {
  const [open, setOpen] = useState(here)
  useEffect(() => {
    if (here) setOpen(true)
  }, [here])
  const id = `${operation.id}-more`
  return (
    <section className="docs-operation" aria-labelledby={operation.id}>
      <h2>
        <button type="button" id={operation.id} aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          <span className={`docs-method docs-${operation.method.toLowerCase()}`}>{operation.method}</span>
          <code>{operation.path}</code>
          <span className="muted">{operation.summary}</span>
          <Icon name="chevron" size={12} />
        </button>
      </h2>
      <div id={id} className="docs-more" hidden={!open}>{open && <More noun={noun} operation={operation} schemas={schemas} />}</div>
    </section>
  )
}

/** Those that say the same together. */
function statusesOf(operation: Operation): [string, string[]][] {
  const found = new Map<string, string[]>()
  for (const { status, description } of operation.answers) found.set(description, [...(found.get(description) ?? []), status])
  return [...found]
}

/** What is required, with values that are allowed; the project is the reader's own. */
function firstFilled(operation: Operation, schemas: Schemas, project: number | undefined): Filled {
  const own = (one: Parameter) => (/^project(_id)?$/.test(one.name) && project !== undefined ? String(project) : null)
  const values = Object.fromEntries(operation.parameters.filter((one) => one.required).map((one) => [slot(one), one.name === 'If-Match' ? '"1"' : own(one) ?? String(exampleOf(one.schema, schemas, false, one.name))]))
  const json = operation.body?.media === 'application/json'
  const body = json ? exampleOf(operation.body?.schema ?? {}, schemas, false) : null
  const placed = project !== undefined && typeof body === 'object' && body !== null && 'project' in body ? { ...body, project } : body
  return { values, body: json ? JSON.stringify(placed, null, 2) : '' }
}

function More({ noun, operation, schemas }: { noun: Noun; operation: Operation; schemas: Schemas }) {
  const { t } = useI18n()
  const { data: session } = useSession()
  const project = session?.projects.find((one) => one.name === lastProject.get()) ?? session?.projects[0]
  const [filled, setFilled] = useState(() => firstFilled(operation, schemas, project?.id))
  const success = operation.answers.find((one) => /^2/.test(one.status) && one.content)
  const given = operation.parameters.map((one) => ({ name: one.name, schema: { ...one.schema, description: one.description ?? one.schema.description }, required: one.required ?? false, place: one.in }))
  return (
    <>
      {operation.description && <p>{operation.description}</p>}
      {given.length > 0 && <><h3>{t('docs.parameters')}</h3><SchemaTable rows={given} schemas={schemas} /></>}
      {operation.body && <Shape title={t('docs.body')} media={operation.body.media} schema={operation.body.schema} schemas={schemas} />}
      {success?.content && <Shape title={t('docs.answer', { status: success.status })} media={success.content.media} schema={success.content.schema} schemas={schemas} />}
      <h3>{t('docs.statuses')}</h3>
      <ul className="docs-statuses">{statusesOf(operation).map(([says, codes]) => <li key={says}><code>{codes.join(' ')}</code> {says}</li>)}</ul>
      <Snippets noun={noun} operation={operation} filled={filled} />
      <TryIt operation={operation} filled={filled} onFill={setFilled} />
    </>
  )
}

function Shape({ title, media, schema, schemas }: { title: string; media: string; schema: Schema; schemas: Schemas }) {
  const { t } = useI18n()
  const [example, setExample] = useState(false)
  const json = media === 'application/json'
  const text = useMemo(() => (example ? JSON.stringify(exampleOf(schema, schemas, true), null, 2) : ''), [example, schema, schemas])
  return (
    <>
      <div className="docs-shape">
        <h3>{title}</h3> <code className="muted">{media}</code>
        <span className="grow" />
        {json && <Segmented size="small" aria-label={title} value={example ? 'example' : 'schema'} onChange={(value) => setExample(value === 'example')} options={[{ value: 'schema', label: t('docs.schema') }, { value: 'example', label: t('docs.example') }]} />}
      </div>
      {example ? <Code text={text} language="json" label={`${title}: ${t('docs.example')}`} /> : <SchemaTable schema={schema} schemas={schemas} />}
    </>
  )
}

const names = { curl: 'curl', python: 'Python' }

/** As commands, with what was filled in below. */
function Snippets({ noun, operation, filled }: { noun: Noun; operation: Operation; filled: Filled }) {
  const { t } = useI18n()
  const [language, setLanguage] = useState<'curl' | 'python'>('curl')
  const origin = window.location.origin
  const texts = { curl: curl(origin, operation, filled), python: python(origin, noun, operation, filled) }
  const shown = texts.python === '' ? 'curl' : language
  return (
    <>
      <div className="docs-shape">
        <h3>{t('docs.snippets')}</h3>
        <span className="grow" />
        {texts.python !== '' && <Segmented size="small" aria-label={t('docs.snippets')} value={shown} onChange={(value) => setLanguage(value as 'curl' | 'python')} options={[{ value: 'curl', label: names.curl }, { value: 'python', label: names.python }]} />}
      </div>
      <Code text={texts[shown]} language={shown === 'curl' ? 'sh' : 'python'} label={names[shown]} />
      {!operation.open && <p className="muted">{t('docs.tokenHint')}</p>}
    </>
  )
}
