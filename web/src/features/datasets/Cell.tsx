import { memo, useEffect, useRef, useState } from 'react'
import { useReach } from '../../api/reach'
import { matchesOf } from '../../api/matches'
import { Icon } from '../../components/Icon'
import { Marked } from '../../components/Marked'
import { useI18n } from '../../i18n'
import { labelCounts, thumbnailUrl, type ColorOf, type Sample } from './samples'
import { Shapes } from './Shapes'

export interface CellProps {
  index: number
  count: number
  path: string
  sample: Sample | undefined
  dataType: string
  colorOf: ColorOf
  selected: boolean
  active: boolean
  left: number
  top: number
  width: number
  height: number
  /** Whether pictures are asked for: not while they fly by. Those that are there stay. */
  calm: boolean
}

/** A picture of the gallery. Its element is used again for other samples: what is drawn follows from the properties alone. */
export const Cell = memo(function Cell({ index, count, path, sample, colorOf, selected, active, left, top, width, height, calm }: CellProps) {
  const { t } = useI18n()
  const labels = sample ? labelCounts(sample.annotation) : []
  const state = sample && t(`sampleState.${sample.state}`)
  const classes = ['cell', selected && 'selected', active && 'active', sample?.state === 'cleaned' && 'is-cleaned'].filter(Boolean).join(' ')
  return (
    <div
      id={`sample-${index}`} data-index={index} role="option" aria-selected={selected} aria-posinset={index + 1} aria-setsize={count} aria-label={sample ? `${sample.name}, ${state}` : t('list.loading')}
      className={classes} style={{ left, top, width, height }}
    >
      <div className="cell-picture">
        {sample && <Picture key={sample.id} path={path} sample={sample} colorOf={colorOf} calm={calm} />}
        <span className="cell-mark">{selected && <Icon name="check" size={12} />}</span>
      </div>
      <div className="cell-name">
        {sample && <span className={`state-dot state-${sample.state}`} title={state} />}
        <span className="cell-text" title={sample?.name}>{sample && <Marked text={sample.name} item={sample} field="name" begin={shownFrom(sample)} />}</span>
        {labels.slice(0, 4).map(([label]) => <span key={label} className="dot" style={{ background: colorOf(label) }} title={label} />)}
      </div>
    </div>
  )
})

/** Only the file's name is shown, or what was found before it. */
function shownFrom(sample: Sample): number {
  const chars = Array.from(sample.name)
  const first = Math.min(chars.length, ...matchesOf(sample, 'name').map((match) => match.from))
  return Math.min(chars.lastIndexOf('/', first) + 1, chars.lastIndexOf('/') + 1)
}

function Picture({ path, sample, colorOf, calm }: { path: string; sample: Sample; colorOf: ColorOf; calm: boolean }) {
  const { t } = useI18n()
  const [failed, setFailed] = useState(false)
  const asked = useRef(false)
  asked.current ||= calm
  // The server may only have been away.
  const { there } = useReach()
  useEffect(() => {
    if (there) setFailed(false)
  }, [there])
  if (failed) return <span className="muted">{t('gallery.noPicture')}</span>
  if (!asked.current) return null
  return (
    <>
      <img src={thumbnailUrl(path, sample, 256)} alt="" loading="lazy" decoding="async" draggable={false} onError={() => setFailed(true)} />
      <Shapes shapes={sample.annotation.shapes} width={sample.width} height={sample.height} colorOf={colorOf} />
    </>
  )
}
