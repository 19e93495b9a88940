import { useApp } from '../../app/context'
import { RefLink } from '../../components/FieldValue'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { useFigures } from '../evaluations/useFigures'
import { refOf, type Figure, type PlatformHome, type ProjectHome } from './home'

type Best = NonNullable<ProjectHome['best']>[number]
type Newest = NonNullable<PlatformHome['newest']>[number]

function FigureShow({ figure }: { figure: Figure }) {
  const read = useFigures()
  const text = (value: number | null) => read.text(figure.name, value)
  const interval = figure.low !== null && figure.high !== null ? `${text(figure.low)} – ${text(figure.high)}` : null
  return <span className="num" title={interval ?? undefined}><b>{text(figure.value)}</b> <span className="muted">{read.title(figure.name)}</span></span>
}

function Link({ kind, value, project }: { kind: string; value: Best['model']; project: Best['project'] }) {
  const ref = refOf(value)
  return ref ? <RefLink kindName={kind} value={ref} project={refOf(project)} /> : null
}

/** Of each labelled data the best model: figures of different data cannot be compared. */
export function BestModels({ items }: { items: readonly Best[] }) {
  const { t, n } = useI18n()
  return (
    <ul className="home-list">
      {items.map((row) => (
        <li key={`${row.evaluation?.id}`}>
          <span className="tag">{t('home.best')}</span>
          <span className="home-name"><Link kind="model_version" value={row.model} project={row.project} /><span className="muted">{t('home.bestOf', { n: n(row.of) })} <Link kind="dataset_version" value={row.data} project={row.project} /></span></span>
          <FigureShow figure={row.figure} />
          <span className="home-when"><Link kind="evaluation" value={row.evaluation ? { ...row.evaluation, name: t('home.report') } : null} project={row.project} /></span>
        </li>
      ))}
    </ul>
  )
}

export function NewestModels({ items, away }: { items: readonly Newest[]; away?: boolean }) {
  const { t } = useI18n()
  const { kind } = useApp()
  return (
    <ul className="home-list">
      {items.map((row) => (
        <li key={row.model?.id}>
          <span className="tag">{t('home.newest')}</span>
          <span className="home-name">
            <Link kind="model_version" value={row.model} project={row.project} />
            <span className="muted">{away && row.project?.name ? `${row.project.name} · ` : ''}{row.run && kind('training_instance') ? <>{t('home.madeBy')} <Link kind="training_instance" value={row.run} project={row.project} /></> : row.by?.name}{row.service && <> · {t('home.servedBy')} <Link kind="service" value={row.service} project={row.project} /></>}</span>
          </span>
          {row.figure ? <FigureShow figure={row.figure} /> : <span className="muted">{t('home.notEvaluated')}</span>}
          <span className="home-when"><Time at={row.at} /></span>
        </li>
      ))}
    </ul>
  )
}
