import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Button, Drawer, InputNumber, Slider } from 'antd'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { childUrl } from '../../app/links'
import { request, type Schema } from '../../api/client'
import { invalidate } from '../../api/objects'
import { useDebounced, useEscape, useOnce } from '../../components/hooks'
import { nameOf } from '../../components/names'
import { ProblemNote } from '../../components/ProblemNote'
import { Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { ParameterField } from './ParameterField'
import { bodyOf, given, presets, tunable, type Choice, type Plan } from './plan'
import { PlanClasses, PlanFacts, PlanRemarks } from './PlanView'
import './train.css'

/** One-click training: how long, and what the platform would do with it, told while one chooses. */
export function TrainDrawer({ version, onClose }: { version: Version; onClose: () => void }) {
  const { t } = useI18n()
  const { project, kind: byName } = useApp()
  const navigate = useNavigate()
  const client = useQueryClient()
  const [choice, setChoice] = useState<Choice>({ minutes: 10, leaveOut: [], merge: {}, parameters: {} })
  const body = bodyOf(choice)
  const asked = useDebounced(JSON.stringify(body), 250)
  const plan = useQuery({
    queryKey: ['plan', version.path, asked],
    queryFn: ({ signal }) => request<Plan>(`${version.path}/plan`, { method: 'POST', body: JSON.parse(asked), signal }),
    placeholderData: keepPreviousData,
    retry: false,
  })
  const settled = asked === JSON.stringify(body) && !plan.isPlaceholderData && plan.isSuccess
  const start = useMutation({
    mutationFn: () => request<Schema<'TrainingInstance'>>(`${version.path}/train`, { method: 'POST', body }),
    onSuccess: async (run) => {
      await invalidate(client, 'training')
      const training = byName('training')
      const instances = byName('training_instance')
      const url = training && instances && run.training && childUrl(instances, run.id, training, run.training.id, project)
      onClose()
      if (url) void navigate(url)
    },
  })
  const train = useOnce(() => start.mutateAsync().catch(() => undefined))
  const may = settled && plan.data.ok && !start.isPending
  useEscape(onClose)
  return (
    <Drawer
      open width="min(760px, 100vw)" onClose={onClose} title={t('train.title', { name: `${nameOf(version.parentKind, version.parent)} ${nameOf(version.kind, version.item)}` })}
      footer={<div className="row wrap drawer-foot"><Button type="primary" loading={start.isPending} disabled={!may} onClick={() => void train()}>{t('train.start')}</Button><Button onClick={onClose}>{t('form.cancel')}</Button></div>}
    >
      <form className="train-form" onKeyDown={(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && may) void train() }} onSubmit={(e) => e.preventDefault()}>
        <Minutes value={choice.minutes} onChange={(minutes) => setChoice({ ...choice, minutes })} />
        {plan.isPending && <Skeleton />}
        {plan.error && <ProblemNote error={plan.error} />}
        {plan.data && (
          <div aria-busy={!settled}>
            <PlanRemarks plan={plan.data} />
            <PlanFacts plan={plan.data} />
            <PlanClasses plan={plan.data} choice={choice} onChange={setChoice} />
            <Tuned plan={plan.data} choice={choice} onChange={setChoice} />
          </div>
        )}
        {start.error && <ProblemNote error={start.error} />}
      </form>
    </Drawer>
  )
}

/** Presets by the slider, anything else typed. */
function Minutes({ value, onChange }: { value: number; onChange: (minutes: number) => void }) {
  const { t, n } = useI18n()
  const at = presets.reduce((best, one, i) => (Math.abs(one - value) < Math.abs((presets[best] ?? 0) - value) ? i : best), 0)
  return (
    <div className="field">
      <label htmlFor="train-minutes">{t('train.minutes')}</label>
      <div className="row train-minutes">
        <Slider
          value={at} min={0} max={presets.length - 1} step={1} marks={Object.fromEntries(presets.map((one, i) => [i, n(one)]))} tooltip={{ open: false }}
          ariaLabelForHandle={t('train.minutes')} onChange={(i) => onChange(presets[i] ?? 10)}
        />
        <InputNumber id="train-minutes" value={value} min={0.1} max={1440} onChange={(v) => onChange(v ?? 10)} />
      </div>
      <p className="field-help">{t('train.minutesHelp')}</p>
    </div>
  )
}

/** The further parameters of the algorithm, folded away. */
function Tuned({ plan, choice, onChange }: { plan: Plan; choice: Choice; onChange: (choice: Choice) => void }) {
  const { t } = useI18n()
  const [open, setOpen] = useState(false)
  const [values, setValues] = useState<Record<string, unknown>>({})
  const { set, version } = plan.algorithm
  const functions = useQuery({
    queryKey: ['objects', 'algorithm_version', 'functions', version],
    queryFn: ({ signal }) => request<Schema<'AlgorithmFunctions'>>(`/algorithm-sets/${set}/versions/${version}/functions`, { signal }),
    enabled: open,
  })
  const parameters = tunable(functions.data?.functions.find((one) => one.name === 'train')?.parameters ?? [])
  const change = (name: string, value: unknown) => {
    const next = { ...values, [name]: value }
    setValues(next)
    onChange({ ...choice, parameters: given(parameters, next) })
  }
  return (
    <details className="block" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{t('train.tuned')}</summary>
      {functions.error && <ProblemNote error={functions.error} />}
      {parameters.map((one) => <ParameterField key={one.name} parameter={one} value={values[one.name]} onChange={(value) => change(one.name, value)} />)}
    </details>
  )
}
