import { formatBytes } from '../../components/format'
import { useI18n } from '../../i18n'
import { isLarge } from './records'

/** One field of a record: pictures and sounds as such, the rest as text. */
export function Value({ value, url, small }: { value: unknown; url: string; small?: boolean }) {
  const { t } = useI18n()
  if (value === null || value === undefined) return <span className="muted">{t('value.none')}</span>
  if (isLarge(value)) {
    const size = formatBytes(value.bytes)
    if (value.type.startsWith('image/')) return <a href={url} target="_blank" rel="noreferrer" title={size}><img className={small ? 'record-thumb' : 'record-picture'} src={url} alt={size} loading="lazy" /></a>
    if (value.type.startsWith('audio/')) return <audio controls preload="none" src={url} className="record-sound" />
    return <a href={url} download className="num">{size}</a>
  }
  const text = typeof value === 'object' ? JSON.stringify(value, null, small ? 0 : 2) : String(value)
  if (small) return <span className={typeof value === 'object' ? 'code-line' : typeof value === 'number' ? 'num' : undefined} title={text.slice(0, 500)}>{text.slice(0, 200)}</span>
  return typeof value === 'object' ? <pre className="record-json">{text}</pre> : <span className="pre">{text}</span>
}
