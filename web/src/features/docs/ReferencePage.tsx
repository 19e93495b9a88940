import { Link, useParams } from 'react-router'
import { NotFoundPage } from '../../app/pages'
import { docsUrl, referenceUrl } from '../../app/links'
import { useTitle } from '../../components/hooks'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { titleOfGroup } from './DocsNav'
import { EnglishOnly } from './EnglishOnly'
import { OperationCard } from './OperationCard'
import { grouped, useReference, wholeTitle, type Noun, type Reference } from './reference'
import { useAnchor } from './useAnchor'

/** /docs/reference and /docs/reference/NOUN */
export function ReferencePage() {
  const { noun: name } = useParams()
  const reference = useReference()
  if (reference.error) return <ErrorState error={reference.error} onRetry={() => void reference.refetch()} />
  if (!reference.data) return <Skeleton as="page" />
  if (name === undefined) return <All reference={reference.data} />
  const noun = reference.data.nouns.find((one) => one.name === name)
  return noun ? <One key={name} noun={noun} reference={reference.data} /> : <NotFoundPage />
}

function All({ reference }: { reference: Reference }) {
  const i18n = useI18n()
  const { t, w } = i18n
  useTitle(t('docs.reference'))
  return (
    <div className="docs-home">
      <h1>{t('docs.reference')} <small className="muted">{reference.version}</small></h1>
      <p className="lead">{t('docs.referenceLead')}</p>
      <p className="row wrap"><Link to={docsUrl('api')}>{t('docs.manual.api')}</Link> · <a href="/api/v1/openapi.json">{t('docs.document')}</a></p>
      <EnglishOnly />
      {grouped(reference.nouns).map((group) => (
        <section key={group.name ?? ''}>
          <h2>{titleOfGroup(i18n, group.name)}</h2>
          <ul className="docs-cards">
            {group.nouns.map((noun) => (
              <li key={noun.name}><Link to={referenceUrl(noun.name)}><strong>{wholeTitle(noun, reference.nouns, w)}</strong><span>{noun.description}</span><span className="muted">{t('docs.operations', { n: noun.operations.length })}</span></Link></li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

function One({ noun, reference }: { noun: Noun; reference: Reference }) {
  const { t, w } = useI18n()
  useTitle(wholeTitle(noun, reference.nouns, w), t('docs.reference'))
  const here = useAnchor(true)
  const children = reference.nouns.filter((one) => one.parent === noun.name)
  const parent = reference.nouns.find((one) => one.name === noun.parent)
  return (
    <div className="docs-reference">
      <h1>{wholeTitle(noun, reference.nouns, w)}</h1>
      <p className="lead">{noun.description}</p>
      <EnglishOnly />
      {parent && <p>{t('docs.childOf')} <Link to={referenceUrl(parent.name)}>{w(parent.title)}</Link></p>}
      {children.length > 0 && <p>{t('docs.children')} {children.map((one, i) => <span key={one.name}>{i > 0 && ', '}<Link to={referenceUrl(one.name)}>{w(one.title)}</Link></span>)}</p>}
      {noun.operations.map((one) => <OperationCard key={one.id} noun={noun} operation={one} schemas={reference.schemas} here={one.id === here} />)}
    </div>
  )
}
