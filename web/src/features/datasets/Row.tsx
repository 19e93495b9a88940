import { useQuery } from '@tanstack/react-query'
import { memo, useRef } from 'react'
import { formatBytes, formatMoment } from '../../components/format'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import type { CellProps } from './Cell'
import { usePlayed } from './player'
import { contentUrl, labelCounts, textBegin, type Sample } from './samples'
import { Wave } from './Wave'

/** A text or a sound of the gallery. Its element is used again for others, as those of pictures are. */
export const Row = memo(function Row({ index, count, path, sample, dataType, colorOf, selected, active, left, top, width, height, calm }: CellProps) {
  const { t, language } = useI18n()
  const state = sample && t(`sampleState.${sample.state}`)
  const labels = sample ? labelCounts(sample.annotation) : []
  const classes = ['cell', 'sample-row', selected && 'selected', active && 'active', sample?.state === 'cleaned' && 'is-cleaned'].filter(Boolean).join(' ')
  return (
    <div
      id={`sample-${index}`} data-index={index} role="option" aria-selected={selected} aria-posinset={index + 1} aria-setsize={count}
      aria-label={sample ? undefined : t('list.loading')} className={classes} style={{ left, top, width, height }}
    >
      <span className="cell-mark">{selected && <Icon name="check" size={12} />}</span>
      {sample && (
        <>
          <div className="line-name">
            <span className={`state-dot state-${sample.state}`} title={state} /><span className="visually-hidden">{state}</span>
            <span className="cell-text" title={sample.name}>{sample.name.split('/').at(-1)}</span>
          </div>
          <div className="line-body">{dataType === 'text' ? <Begin key={sample.id} path={path} sample={sample} calm={calm} /> : <Sound key={sample.id} path={path} sample={sample} calm={calm} />}</div>
          <div className="line-labels">{labels.slice(0, 4).map(([label, n]) => <span key={label} className="tag"><span className="dot" style={{ background: colorOf(label) }} />{label}{n > 1 ? ` × ${n}` : ''}</span>)}</div>
          <div className="line-facts muted num">
            {sample.split && <span>{t(`split.${sample.split}`)}</span>}
            <span>{sample.duration > 0 ? formatMoment(sample.duration, language) : formatBytes(sample.size)}</span>
          </div>
        </>
      )}
    </div>
  )
})

/** How a text begins: as many lines as there is room for. */
function Begin({ path, sample, calm }: { path: string; sample: Sample; calm: boolean }) {
  const asked = useRef(false)
  asked.current ||= calm
  const begin = useQuery({
    queryKey: ['sample-begin', sample.digest],
    queryFn: ({ signal }) => textBegin(path, sample, 600, signal),
    enabled: asked.current,
    staleTime: Infinity,
  })
  return <span className="line-text">{begin.data}</span>
}

/** A sound by its wave form and what is said; played where it stands. */
function Sound({ path, sample, calm }: { path: string; sample: Sample; calm: boolean }) {
  const { t } = useI18n()
  const asked = useRef(false)
  asked.current ||= calm
  const url = contentUrl(path, sample)
  const played = usePlayed(url)
  return (
    <>
      {/* No button: what stands in a list of options is none for the keyboard. There it is the key P. */}
      <span className="line-play" data-play={url} title={t(played.playing ? 'gallery.pause' : 'gallery.play')}><Icon name={played.playing ? 'pause' : 'play'} size={14} /></span>
      {asked.current && <Wave path={path} sample={sample} at={played.at} />}
      {sample.annotation.text && <span className="line-said">{sample.annotation.text}</span>}
    </>
  )
}
