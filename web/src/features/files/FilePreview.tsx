import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { useMemo } from 'react'
import { formatBytes } from '../../components/format'
import { ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { fileUrl, largestText, readText } from './files'
import './highlight.css'
import { highlight } from './highlight'

/** With the numbers of its lines, and its parts marked by the language that its name tells. */
function Text({ path, text, lines }: { path: string; text: string; lines: number }) {
  const pieces = useMemo(() => highlight(path, text), [path, text])
  const numbers = useMemo(() => Array.from({ length: lines }, (_, i) => i + 1).join('\n'), [lines])
  return (
    <div className="file-text" tabIndex={0} role="region" aria-label={path}>
      <pre className="file-numbers" aria-hidden="true">{numbers}</pre>
      <pre>{pieces.map(([piece, part], i) => (part ? <span key={i} className={`code-${part}`}>{piece}</span> : piece))}</pre>
    </div>
  )
}

/** A line break at the very end begins no line. */
function linesOf(text: string): number {
  return text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

const pictures = /\.(png|jpe?g|gif|webp|bmp)$/i

export function FilePreview({ version, path, size }: { version: Version; path: string; size: number | undefined }) {
  const { t, n } = useI18n()
  const picture = pictures.test(path)
  const text = useQuery({
    queryKey: ['objects', version.kind.name, 'text', version.item.id, path],
    queryFn: ({ signal }) => readText(version.path, path, signal),
    enabled: !picture && size !== undefined && size <= largestText,
  })
  const lines = linesOf(text.data ?? '')
  const why = size !== undefined && size > largestText ? t('files.tooLarge', { size: formatBytes(largestText) }) : text.data === null ? t('files.noText') : null
  return (
    <div className="file-preview">
      <div className="tools">
        <span className="muted num">{size === undefined ? '' : formatBytes(size)}{lines > 0 && ` · ${t('files.lines', { n: n(lines) })}`}</span>
        <span className="grow" />
        <Button size="small" href={fileUrl(version, path, true)} download>{t('sample.download')}</Button>
      </div>
      {picture ? <img src={fileUrl(version, path)} alt={path} /> : text.error ? <ErrorState error={text.error} onRetry={() => void text.refetch()} /> : why ? <p className="muted">{why}</p> : typeof text.data === 'string' && <Text path={path} text={text.data} lines={lines} />}
    </div>
  )
}
