import { useQuery } from '@tanstack/react-query'
import { Button } from 'antd'
import { formatBytes } from '../../components/format'
import { ErrorState } from '../../components/States'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { fileUrl, largestText, readText } from './files'

const pictures = /\.(png|jpe?g|gif|webp|bmp)$/i

export function FilePreview({ version, path, size }: { version: Version; path: string; size: number | undefined }) {
  const { t, n } = useI18n()
  const picture = pictures.test(path)
  const text = useQuery({
    queryKey: ['objects', version.kind.name, 'text', version.item.id, path],
    queryFn: ({ signal }) => readText(version.path, path, signal),
    enabled: !picture && size !== undefined && size <= largestText,
  })
  const lines = text.data?.split('\n').length ?? 0
  const why = size !== undefined && size > largestText ? t('files.tooLarge', { size: formatBytes(largestText) }) : text.data === null ? t('files.noText') : null
  return (
    <div className="file-preview">
      <div className="tools">
        <span className="muted num">{size === undefined ? '' : formatBytes(size)}{lines > 0 && ` · ${t('files.lines', { n: n(lines) })}`}</span>
        <span className="grow" />
        <Button size="small" href={fileUrl(version, path, true)} download>{t('sample.download')}</Button>
      </div>
      {picture ? <img src={fileUrl(version, path)} alt={path} /> : text.error ? <ErrorState error={text.error} onRetry={() => void text.refetch()} /> : why ? <p className="muted">{why}</p> : text.data !== undefined && <pre className="file-text" tabIndex={0} aria-label={path}>{text.data}</pre>}
    </div>
  )
}
