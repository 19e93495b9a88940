import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { childUrl, itemUrl } from '../../app/links'
import { useI18n } from '../../i18n'
import { EnvShow } from '../jobs/pick/Env'
import { ImageShow } from '../jobs/pick/Image'
import type { Lineage } from './instances'
import '../jobs/compute.css'

function Node({ title, children }: { title: string; children: ReactNode }) {
  return <li className="lineage-node"><span className="muted">{title}</span>{children}</li>
}

/** The run of a training, or the environment, that it was made in. */
function Maker({ lineage }: { lineage: Lineage }) {
  const { t, n } = useI18n()
  const { project, kind: byName } = useApp()
  const training = byName('training')
  const instances = byName('training_instance')
  const run = training && instances && lineage.training && lineage.instance ? childUrl(instances, lineage.instance, training, lineage.training.id, project) : null
  const trainingUrl = training && lineage.training ? itemUrl(training, lineage.training.id, project) : null
  const environments = byName('environment')
  const environmentUrl = environments && lineage.environment ? itemUrl(environments, lineage.environment.id, project) : null
  return (
    <Node title={t(lineage.environment ? 'lineage.environment' : 'lineage.run')}>
      <span className="link-and-note">
        {lineage.environment && (environmentUrl ? <Link to={environmentUrl}>{lineage.environment.name}</Link> : lineage.environment.name)}
        {lineage.training && (trainingUrl ? <Link to={trainingUrl}>{lineage.training.name}</Link> : lineage.training.name)}
        {lineage.run && <> {run ? <Link to={run}>{lineage.run}</Link> : lineage.run}</>}
      </span>
      {lineage.folder && <code>{`/workspace/${lineage.folder}`}</code>}
      {lineage.nodes !== undefined && <span className="muted num">{t('lineage.nodes', { n: n(lineage.nodes) })}{lineage.spec ? ` · ${lineage.spec.name}` : ''}</span>}
    </Node>
  )
}

/** What the graph of links does not say: how it was run. */
export function LineageFacts({ lineage }: { lineage: Lineage }) {
  const { t } = useI18n()
  return (
    <div className="summary">
      <ul className="lineage-facts">
        <Maker lineage={lineage} />
        {lineage.image && <Node title={t('lineage.image')}><span className="link-and-note"><ImageShow value={lineage.image} short={false} />{lineage.image_digest ? <code className="muted digest" title={lineage.image_digest}> {lineage.image_digest.slice(0, 12)}</code> : null}</span></Node>}
      </ul>
      {lineage.command && <section className="block"><h2>{t('lineage.command')}</h2><pre>{lineage.command}</pre></section>}
      {lineage.env && Object.keys(lineage.env).length > 0 && <section className="block"><h2>{t('lineage.env')}</h2><EnvShow value={lineage.env} short={false} /></section>}
    </div>
  )
}
