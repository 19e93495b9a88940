import { App, Button } from 'antd'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { Icon } from '../../components/Icon'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { stepUrl, useHiddenSteps, type Step } from './home'

/** The way from data to a service. What is done follows from what is there; the next step has the button. */
export function Steps({ project, steps }: { project: number; steps: readonly Step[] }) {
  const i18n = useI18n()
  const { t, n } = i18n
  const { message } = App.useApp()
  const { hidden, hide } = useHiddenSteps(project)
  const done = steps.filter((step) => step.done).length
  const change = (on: boolean) => void hide(on).catch((error: unknown) => void message.error(problemText(error, i18n)))
  if (hidden === null || steps.length === 0 || done === steps.length) return null
  if (hidden) return <p className="muted">{t('home.stepsAway', { done: n(done), all: n(steps.length) })} <Button type="link" size="small" onClick={() => change(false)}>{t('home.stepsShow')}</Button></p>
  const next = steps.find((step) => !step.done)
  return (
    <section className="block home-steps" aria-labelledby="home-steps">
      <div className="home-head">
        <h2 id="home-steps">{t('home.steps')}</h2>
        <span className="muted num">{t('home.stepsDone', { done: n(done), all: n(steps.length) })}</span>
        <span className="grow" />
        <Button type="text" size="small" onClick={() => change(true)}>{t('home.stepsHide')}</Button>
      </div>
      <ol>{steps.map((step) => <StepRow key={step.name} step={step} first={step === next} />)}</ol>
    </section>
  )
}

function StepRow({ step, first }: { step: Step; first: boolean }) {
  const { t } = useI18n()
  const { project, kind } = useApp()
  const navigate = useNavigate()
  const url = step.may && !step.done ? stepUrl(step, kind, project) : null
  return (
    <li data-step={step.name} data-done={step.done} aria-current={first ? 'step' : undefined}>
      <span className="home-mark" aria-hidden="true">{step.done && <Icon name="check" size={12} />}</span>
      <div>
        <b>{t(`home.step.${step.name}`)}</b>
        <span className="visually-hidden">{t(step.done ? 'home.stepDone' : 'home.stepOpen')}</span>
        {!step.done && <p className="muted">{t(`home.hint.${step.name}`)}</p>}
      </div>
      {url && <Button type={first ? 'primary' : 'default'} size="small" onClick={() => void navigate(url)}>{t(`home.do.${step.name}`)}</Button>}
    </li>
  )
}
