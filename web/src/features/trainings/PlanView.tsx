import { Checkbox, Select } from 'antd'
import { useI18n } from '../../i18n'
import { leave, merge, targets, type Choice, type Plan } from './plan'

/** The classes as bars, with what becomes of each. */
export function PlanClasses({ plan, choice, onChange }: { plan: Plan; choice: Choice; onChange: (choice: Choice) => void }) {
  const { t, n } = useI18n()
  const most = Math.max(1, ...plan.classes.map((one) => Math.max(one.samples, one.total)))
  if (plan.classes.length === 0) return null
  return (
    <section className="block">
      <h3>{t('train.classes')}</h3>
      <table className="bars plan-classes" aria-label={t('train.classes')}>
        <tbody>
          {plan.classes.map((one) => {
            const out = choice.leaveOut.includes(one.label)
            const into = choice.merge[one.label] ?? null
            const options = targets(choice, plan.classes, one.label)
            return (
              <tr key={one.label} className={out || into ? 'plan-off' : undefined}>
                <th scope="row"><Checkbox checked={!out} onChange={(e) => onChange(leave(choice, one.label, !e.target.checked))}>{one.label}</Checkbox></th>
                <td className="bars-line"><div className="bars-bar" style={{ width: `${((out ? 0 : into ? one.samples : one.total) / most) * 100}%` }} /></td>
                <td className="right num">{n(out || into ? one.samples : one.total)}</td>
                <td className="plan-merge">
                  <Select
                    size="small" allowClear aria-label={t('train.mergeOf', { label: one.label })} placeholder={t('train.merge')} disabled={out || (options.length === 0 && !into)}
                    value={into} onChange={(value: string | undefined) => onChange(merge(choice, one.label, value ?? null))} options={options.map((value) => ({ value, label: value }))}
                  />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}

/** A sentence with commands in it, between backticks as a terminal shows them. */
function WithCode({ text }: { text: string }) {
  return <>{text.split('`').map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</>
}

export function PlanRemarks({ plan }: { plan: Plan }) {
  const { t, w } = useI18n()
  if (plan.remarks.length === 0) return null
  return (
    <ul className="plan-remarks" aria-label={t('train.remarks')}>
      {plan.remarks.map((one) => (
        <li key={`${one.id}-${one.label ?? ''}`} className={`plan-${one.level}`}><strong>{t(`trainLevel.${one.level}`)}</strong> <WithCode text={w(one.text)} /></li>
      ))}
    </ul>
  )
}

/** How many samples go where, and when it would begin. */
export function PlanFacts({ plan }: { plan: Plan }) {
  const { t, n, w } = useI18n()
  return (
    <dl className="plan-facts">
      <div><dt>{t('train.usable')}</dt><dd className="num">{n(plan.samples.usable)}<span className="muted"> / {n(plan.samples.all)}</span></dd></div>
      <div><dt>{t('train.trained')}</dt><dd className="num">{n(plan.split.train)}</dd></div>
      <div><dt>{t('train.chosen')}</dt><dd className="num">{n(plan.split.val)}</dd></div>
      <div><dt>{t('train.tested')}</dt><dd className="num">{n(plan.split.test)}</dd></div>
      {plan.samples.negatives !== null && plan.samples.negatives > 0 && <div><dt>{t('train.negatives')}</dt><dd className="num">{n(plan.samples.negatives)}</dd></div>}
      {plan.spec && <div><dt>{t('train.spec')}</dt><dd>{plan.spec.name}</dd></div>}
      {plan.forecast && <div><dt>{t('train.begins')}</dt><dd>{w(plan.forecast.reason)}</dd></div>}
    </dl>
  )
}
