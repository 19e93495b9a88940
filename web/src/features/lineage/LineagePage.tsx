import { useParams } from 'react-router'
import { useApp } from '../../app/context'
import { NotFoundPage } from '../../app/pages'
import { useTitle } from '../../components/hooks'
import { useI18n } from '../../i18n'
import { Crumbs } from '../objects/Head'
import { LineageGraph } from './LineageGraph'
import { RequestLineage } from './RequestLineage'

/** The lineage of what has no page of its own: a sample, an image's version, an annotation layer, an answer of a service. */
export function LineagePage() {
  const { kind = '', id = '' } = useParams()
  const { t } = useI18n()
  const { project } = useApp()
  useTitle(t('lineage.title'), project?.name)
  const ofRequest = kind === 'request'
  if (!ofRequest && (!/^[a-z_]{1,40}$/.test(kind) || !/^[1-9]\d{0,15}$/.test(id))) return <NotFoundPage />
  return (
    <article className="detail">
      <Crumbs of={[]} />
      <header className="detail-head"><h1>{t(ofRequest ? 'lineage.ofAnswer' : 'lineage.title')}</h1>{ofRequest && <code className="muted">{id}</code>}</header>
      {ofRequest ? <RequestLineage key={id} id={id} /> : <LineageGraph key={`${kind}-${id}`} kind={kind} id={Number(id)} />}
    </article>
  )
}
