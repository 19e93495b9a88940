import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { childUrl, itemUrl, versionUrl } from '../../app/links'
import { useI18n } from '../../i18n'
import { EnvShow } from '../jobs/pick/Env'
import { ImageShow } from '../jobs/pick/Image'
import type { Lineage, LineageVersion } from './instances'
import '../jobs/compute.css'

function Version({ value }: { value: LineageVersion }) {
  const { project, kind: byName } = useApp()
  const parent = byName(byName(value.kind)?.parent ?? '')
  const number = Number(/\d+$/.exec(value.version.name ?? '')?.[0])
  const text = `${value.set.name} ${value.version.name}`
  return (
    <span className="link-and-note">
      {parent && number ? <Link to={versionUrl(parent, value.set.id, number, project)}>{text}</Link> : text}
      {value.digest ? <code className="muted digest" title={value.digest}> {value.digest.slice(0, 12)}</code> : null}
    </span>
  )
}

function Node({ title, children }: { title: string; children: ReactNode }) {
  return <li className="lineage-node"><span className="muted">{title}</span>{children}</li>
}

/** Those that there still were when it was made. */
function there(versions: readonly (LineageVersion | null)[] | undefined): LineageVersion[] {
  return (versions ?? []).filter((one) => one !== null)
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

/** What went in, the run, and what came out: left to right, or from top to bottom on a phone. */
export function LineageView({ lineage }: { lineage: Lineage }) {
  const { t } = useI18n()
  const { project, kind: byName } = useApp()
  const training = byName('training')
  const instances = byName('training_instance')
  const former = training && instances && lineage.training && lineage.resumed_from ? childUrl(instances, lineage.resumed_from.id, training, lineage.training.id, project) : null
  return (
    <div className="summary">
      <div className="lineage" role="group" aria-label={t('lineage.title')}>
        <ul>
          {there(lineage.data).map((d) => <Node key={d.version.id} title={t('lineage.data')}><Version value={d} /></Node>)}
          {lineage.code && <Node title={t('lineage.code')}><Version value={lineage.code} /></Node>}
          {there(lineage.algorithms).map((v) => <Node key={v.version.id} title={t('lineage.code')}><Version value={v} /></Node>)}
          {there(lineage.models).map((v) => <Node key={v.version.id} title={t('lineage.mountedModel')}><Version value={v} /></Node>)}
          {lineage.base_model && <Node title={t('lineage.base')}><Version value={lineage.base_model} /></Node>}
          {lineage.resumed_from && <Node title={t('lineage.resumed')}>{former ? <Link to={former}>{lineage.resumed_from.name}</Link> : <span>{lineage.resumed_from.name}</span>}</Node>}
          {lineage.image && <Node title={t('lineage.image')}><span className="link-and-note"><ImageShow value={lineage.image} short={false} />{lineage.image_digest ? <code className="muted digest" title={lineage.image_digest}> {lineage.image_digest.slice(0, 12)}</code> : null}</span></Node>}
        </ul>
        <span className="lineage-arrow" aria-hidden="true" />
        <ul>
          <Maker lineage={lineage} />
        </ul>
        <span className="lineage-arrow" aria-hidden="true" />
        <ul>
          <Node title={t(lineage.environment ? 'lineage.version' : 'lineage.model')}>{lineage.model_version ? <Version value={lineage.model_version} /> : <span className="muted">{t('lineage.noModel')}</span>}</Node>
        </ul>
      </div>
      {lineage.command && <section className="block"><h2>{t('lineage.command')}</h2><pre>{lineage.command}</pre></section>}
      {lineage.env && Object.keys(lineage.env).length > 0 && <section className="block"><h2>{t('lineage.env')}</h2><EnvShow value={lineage.env} short={false} /></section>}
    </div>
  )
}
