import { useQuery } from '@tanstack/react-query'
import { type ReactNode } from 'react'
import { formatMoment } from '../../components/format'
import { ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import { contentUrl, textBegin, type Annotation, type ColorOf, type Sample, type Version } from './samples'
import { Shapes } from './Shapes'

const longest = 200_000

export function SampleView({ version, sample, colorOf, shapes }: { version: Version; sample: Sample; colorOf: ColorOf; shapes: boolean }) {
  const url = contentUrl(version.path, sample)
  const type = version.parent['data_type']
  if (type === 'audio') return <Sound url={url} sample={sample} />
  if (type === 'text') return <TextSample version={version} sample={sample} colorOf={colorOf} />
  return (
    <div className="sample-picture">
      <div className="sample-frame" style={{ aspectRatio: sample.width > 0 ? `${sample.width} / ${sample.height}` : undefined, width: sample.width > 0 ? `min(100%, calc((100vh - 160px) * ${sample.width / sample.height}))` : undefined }}>
        <img className={sample.width < 400 ? 'pixelated' : undefined} src={url} alt={sample.name} />
        {shapes && <Shapes shapes={sample.annotation.shapes} width={sample.width} height={sample.height} colorOf={colorOf} names />}
      </div>
    </div>
  )
}

function Sound({ url, sample }: { url: string; sample: Sample }) {
  const { language } = useI18n()
  return (
    <div className="sample-text">
      <audio controls src={url} />
      {sample.annotation.text && <p className="pre">{sample.annotation.text}</p>}
      <ol className="history">
        {(sample.annotation.segments ?? []).map((s, i) => <li key={i}><span className="muted num">{`${formatMoment(s.start, language)} – ${formatMoment(s.end, language)}`}</span>{s.label && <span className="tag">{s.label}</span>}<span className="pre">{s.text}</span></li>)}
      </ol>
    </div>
  )
}

function TextSample({ version, sample, colorOf }: { version: Version; sample: Sample; colorOf: ColorOf }) {
  const { t } = useI18n()
  const text = useQuery({
    queryKey: ['sample-text', sample.digest],
    queryFn: ({ signal }) => textBegin(version.path, sample, longest, signal),
    staleTime: Infinity,
  })
  return (
    <div className="sample-text">
      {text.error && <ErrorState error={text.error} onRetry={() => void text.refetch()} />}
      <p className="pre">{text.data === undefined ? '' : marked(text.data, sample.annotation, colorOf)}</p>
      {sample.size > longest && <p className="muted">{t('sample.cut')}</p>}
    </div>
  )
}

/** The text with its spans; those that overlap an earlier one are left out of the picture, not of the list. */
function marked(text: string, annotation: Annotation, colorOf: ColorOf): ReactNode[] {
  const characters = [...text]
  const result: ReactNode[] = []
  let at = 0
  for (const span of [...(annotation.spans ?? [])].sort((a, b) => a.start - b.start)) {
    if (span.start < at) continue
    result.push(characters.slice(at, span.start).join(''))
    result.push(<span key={span.start} className="span"><mark style={{ boxShadow: `inset 0 -2px 0 ${colorOf(span.label)}` }}>{characters.slice(span.start, span.end).join('')}</mark><small>{span.label}</small></span>)
    at = span.end
  }
  result.push(characters.slice(at).join(''))
  return result
}
