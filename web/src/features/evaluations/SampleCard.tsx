import { useMemo } from 'react'
import { apiUrl } from '../../api/client'
import { useI18n } from '../../i18n'
import { Shapes } from '../datasets/Shapes'
import { thumbnailUrl, type Annotation, type Shape } from '../datasets/samples'
import { foundAt, hasShapes, missedAt, type EvaluatedSample } from './evaluations'

const colors = { true: '#2f9e44', missed: '#e8890c', hit: '#3b6fd4', mistake: '#e03131' }
const always = (color: string) => () => color

interface Layer { shapes: Shape[]; color: string }

function Picture({ title, sample, path, layers }: { title: string; sample: EvaluatedSample; path: string; layers: Layer[] }) {
  return (
    <figure>
      <div className="evaluation-picture" style={{ aspectRatio: `${sample.width} / ${sample.height}` }}>
        <img src={thumbnailUrl(path, { id: sample.sample }, 512)} alt={sample.file} loading="lazy" decoding="async" />
        {layers.map((layer) => <Shapes key={layer.color} shapes={layer.shapes} width={sample.width} height={sample.height} colorOf={always(layer.color)} names />)}
      </div>
      <figcaption className="muted">{title}</figcaption>
    </figure>
  )
}

/** Labels, and what is written, of one side. */
function Said({ annotation, right }: { annotation: Annotation; right?: readonly string[] }) {
  const { t, n } = useI18n()
  const scores = (annotation as { scores?: Record<string, number> }).scores ?? {}
  const labels = annotation.labels ?? []
  return (
    <span className="tags">
      {labels.map((label) => <span key={label} className={right && !right.includes(label) ? 'tag tag-wrong' : 'tag'}>{label}{scores[label] !== undefined && <span className="num muted"> {n(scores[label] ?? 0, 2)}</span>}</span>)}
      {annotation.text && <span className="pre">{annotation.text}</span>}
      {labels.length === 0 && !annotation.text && <span className="muted">{t('evaluation.nothing')}</span>}
    </span>
  )
}

/** One sample: the truth beside what was found. */
export function SampleCard({ sample, score, path }: { sample: EvaluatedSample; score: number; path: string | null }) {
  const { t } = useI18n()
  const truth = sample.truth as Annotation
  const found = sample.found as Annotation
  const layers = useMemo(() => {
    const trueShapes = truth.shapes ?? []
    const foundShapes = found.shapes ?? []
    const missed = missedAt(sample, score, trueShapes.length)
    const shown = foundAt(sample, score)
    const of = (outcome: string) => shown.filter((m) => m.outcome === outcome).flatMap((m) => foundShapes[m.index] ?? [])
    return {
      truth: [{ shapes: trueShapes.filter((_, i) => !missed.has(i)), color: colors.true }, { shapes: trueShapes.filter((_, i) => missed.has(i)), color: colors.missed }],
      found: [{ shapes: of('hit'), color: colors.hit }, { shapes: of('mistake'), color: colors.mistake }],
    }
  }, [truth, found, sample, score])
  const picture = sample.width > 0 && sample.height > 0 && path !== null
  const shapes = hasShapes(sample)
  return (
    <div className="evaluation-sample">
      {picture && shapes && (
        <div className="evaluation-pair">
          <Picture title={t('evaluation.truth')} sample={sample} path={path} layers={layers.truth} />
          <Picture title={t('evaluation.foundTitle')} sample={sample} path={path} layers={layers.found} />
        </div>
      )}
      {picture && !shapes && <Picture title="" sample={sample} path={path} layers={[]} />}
      {!picture && path && /\.(wav|flac|mp3|ogg)$/i.test(sample.file) && <audio controls preload="none" src={apiUrl(`${path}/samples/${sample.sample}/content`)} aria-label={sample.file} />}
      {!shapes && (
        <dl className="evaluation-said">
          <dt>{t('evaluation.truth')}</dt><dd><Said annotation={truth} /></dd>
          <dt>{t('evaluation.foundTitle')}</dt><dd><Said annotation={found} right={truth.labels ?? []} /></dd>
        </dl>
      )}
      {sample.error && <p className="note note-error">{sample.error}</p>}
    </div>
  )
}
