import { useI18n } from '../../i18n'
import type { SpecialProps } from '../objects/special'
import './labelling.css'
import { partNames, partsOf, shareDone } from './model'
import type { Item } from '../../api/kinds'

/** How far the samples of a task are, in one bar; with its legend, in numbers too. */
export function TaskBar({ task, legend }: { task: Item; legend?: boolean }) {
  const { t, n } = useI18n()
  const parts = partsOf(task)
  const shown = partNames.filter((name) => parts[name] > 0)
  const text = shown.map((name) => `${t(`labelPart.${name}`)} ${n(parts[name])}`).join(', ')
  return (
    <div className="task-progress">
      <div className="part-bar" role="img" aria-label={text || t('labelTask.noSamples')} title={text}>
        {shown.map((name) => <div key={name} className={`part part-${name}`} style={{ flexGrow: parts[name] }} />)}
      </div>
      {legend && (
        <ul className="part-legend">
          {partNames.filter((name) => parts[name] > 0 || name === 'accepted' || name === 'labelled' || name === 'waiting').map((name) => (
            <li key={name}><span className={`part-mark part-${name}`} /><span>{t(`labelPart.${name}`)}</span> <b className="num">{n(parts[name])}</b></li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** In the list of tasks. */
export function ProgressCell({ item }: SpecialProps) {
  const { t, n } = useI18n()
  const samples = Number(item['samples']) || 0
  if (samples === 0) return <span className="muted">{t('labelTask.noSamples')}</span>
  return (
    <span className="progress-cell">
      <TaskBar task={item} />
      <span className="num muted">{t('labelTask.share', { share: Math.floor(shareDone(item) * 100), n: n(samples) })}</span>
    </span>
  )
}
