import { useMemo } from 'react'
import { useI18n } from '../../i18n'
import { Shapes } from '../datasets/Shapes'
import { colorsOf } from '../datasets/samples'
import { above, ranking, type Prediction } from './services'

const colorOf = colorsOf(null)

/** What a model says, drawn over what it was asked. */
export function Result({ input, url, text, prediction, threshold }: { input: Blob; url: string; text: string | null; prediction: Prediction | null; threshold: number }) {
  const { t, n } = useI18n()
  const shown = useMemo(() => (prediction ? above(prediction.annotation, threshold) : null), [prediction, threshold])
  const labels = prediction ? ranking(prediction.annotation, 10) : []
  const { width = 0, height = 0 } = prediction ?? {}
  return (
    <div className="try-result">
      {input.type.startsWith('image/') && (
        <div className="try-picture" style={width && height ? { aspectRatio: `${width} / ${height}` } : undefined}>
          <img src={url} alt={t('try.input')} />
          <Shapes shapes={shown?.shapes} width={width} height={height} colorOf={colorOf} names />
        </div>
      )}
      {input.type.startsWith('audio/') && <audio controls src={url} aria-label={t('try.input')} />}
      {text !== null && <blockquote className="try-text pre">{text}</blockquote>}
      {labels.length > 0 && (
        <ol className="try-labels">
          {labels.map(([label, score]) => (
            <li key={label} className={score < threshold ? 'muted' : undefined}>
              <span>{label}</span><span className="num">{n(score, 3)}</span>
              <i aria-hidden="true"><b style={{ width: `${100 * score}%` }} /></i>
            </li>
          ))}
        </ol>
      )}
      {shown?.shapes && prediction?.annotation.shapes && (
        <p className="muted num">{t('try.shapes', { n: n(shown.shapes.length), all: n(prediction.annotation.shapes.length) })}</p>
      )}
      {shown?.shapes?.some((s) => s.text) && <ol className="try-texts">{shown.shapes.filter((s) => s.text).map((s, i) => <li key={i}>{s.text} <span className="muted num">{s.score === undefined ? '' : n(s.score, 2)}</span></li>)}</ol>}
      {prediction?.annotation.embedding && <p className="num">{t('try.embedding', { n: n(prediction.annotation.embedding.length) })}</p>}
    </div>
  )
}
