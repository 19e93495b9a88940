import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import { allItems, useList } from '../../api/objects'
import type { Item, Kind } from '../../api/kinds'
import { may } from '../../api/session'
import { RefLink } from '../../components/FieldValue'
import { formatBytes } from '../../components/format'
import { isRef } from '../../components/names'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import type { Figure } from '../evaluations/evaluations'
import { useFigures } from '../evaluations/useFigures'
import { latencyOf } from '../evaluations/latency'
import { LatencyText } from '../evaluations/LatencyText'
import type { Lineage } from '../trainings/instances'
import { fromJson } from './manifest'
import { choiceText } from './ManifestField'
import { useManifest } from './ManifestView'
import './models.css'

const shownLabels = 6
const shownFigures = 2

/** A model at a glance: what it does, how good and how quick it was found to be, what it learned from. */
export function ModelCard({ version }: { version: Version }) {
  const { t, n } = useI18n()
  const { session, project, kind: byName } = useApp()
  const { item } = version
  const manifest = fromJson(useManifest(version).data?.manifest ?? null)
  const evaluations = byName('evaluation')
  const labels = manifest?.labels ?? []
  const data = (item['lineage'] as Lineage | null)?.data ?? []
  return (
    <section aria-label={t('model.card')}>
      <dl className="model-figures model-card">
        {manifest && <div><dt>{t('model.does')}</dt><dd>{choiceText(manifest.task, t)}</dd></div>}
        {evaluations && project && may(session, 'evaluation.read', project.id) && <Evaluated kind={evaluations} version={item.id} />}
        {labels.length > 0 && <div><dt>{t('model.labels', { n: n(labels.length) })}</dt><dd title={labels.join(', ')}>{labels.slice(0, shownLabels).join(', ')}{labels.length > shownLabels && ' …'}</dd></div>}
        {data.length > 0 && (
          <div><dt>{t('model.data')}</dt><dd>{data.map((one, i) => <span key={one.version.id}>{i > 0 && ', '}<RefLink kindName="dataset_version" value={{ ...one.version, of: one.set }} /></span>)}</dd></div>
        )}
        <div><dt>{t('model.size')}</dt><dd className="num">{formatBytes(Number(item['bytes']))}</dd></div>
      </dl>
    </section>
  )
}

/** What the newest evaluation says, on samples that it has not learned from where there is one. */
function Evaluated({ kind, version }: { kind: Kind; version: number }) {
  const { t } = useI18n()
  const read = useFigures()
  const { project } = useApp()
  const found = useList(kind, { project: project?.id }, { filter: `model_version = ${version} and state = "completed"`, sort: '-created_at' })
  const all = allItems(found.data)
  const newest: Item | undefined = all.find((one) => one['part'] === 'test') ?? all[0]
  if (!found.data) return null
  if (!newest) return <div><dt>{t('model.quality')}</dt><dd><Link to="?tab=evaluations">{t('model.notEvaluated')}</Link></dd></div>
  const figures = Object.entries((newest['figures'] ?? {}) as Record<string, Figure>).filter(([, f]) => f.value !== null)
  const latency = [newest, ...all].map(latencyOf).find((one) => one !== null)
  return (
    <>
      {figures.slice(0, shownFigures).map(([name, f]) => (
        <div key={name}>
          <dt>{read.title(name)}</dt>
          <dd className="num"><Link to={itemUrl(kind, newest.id, project) ?? '?tab=evaluations'}>{read.text(name, f.value)}</Link>
            <small className="muted">{f.low !== null && f.high !== null && `${read.text(name, f.low)} – ${read.text(name, f.high)}, `}{isRef(newest['dataset_version']) && <RefLink kindName="dataset_version" value={newest['dataset_version']} />}{newest['part'] === 'test' && `, ${t('model.testPart')}`}</small></dd>
        </div>
      ))}
      {latency && <div><dt>{t('evaluation.latency')}</dt><dd><LatencyText latency={latency} /></dd></div>}
    </>
  )
}
