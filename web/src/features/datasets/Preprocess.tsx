import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button, Dropdown, InputNumber } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { request } from '../../api/client'
import { invalidate } from '../../api/objects'
import { FormDialog } from '../../components/FormDialog'
import { useShown } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import type { Task } from '../tasks/tasks'
import { SharpnessHistogram } from './Sharpness'
import { contentUrl, listSamples, type Sample, type Version } from './samples'
import { mostSteps, moveStep, newStep, sizeAfter, stepNames, type Step } from './steps'

/** So many of the first samples can be looked at. */
const looked = 50

/** Steps in their order, with a picture of what they do to one sample; makes a new version. */
export function Preprocess({ version, first, onClose }: { version: Version; first: Step[]; onClose: () => void }) {
  const { t } = useI18n()
  const { message } = App.useApp()
  const client = useQueryClient()
  const [steps, setSteps] = useState(first)
  const [at, setAt] = useState(0)
  const samples = useQuery({ queryKey: ['objects', 'dataset_version', 'first', version.item.id], queryFn: async ({ signal }) => (await listSamples(version.path, {}, 0, looked, signal)).items })
  const sample = samples.data?.[at] ?? null
  const shown = useShown()
  const run = useMutation({
    mutationFn: () => request<Task>(`${version.path}/preprocess`, { method: 'POST', body: { steps } }),
    onSuccess: async () => {
      await Promise.all([invalidate(client, 'task'), invalidate(client, 'dataset_version')])
      void message.success(t('preprocess.started'))
      if (shown()) onClose()
    },
  })
  const set = (i: number, step: Step) => setSteps((old) => old.map((s, k) => (k === i ? step : s)))
  const number = (i: number, step: Step, field: string, min: number, max: number) => (
    <label className="step-field"><span>{t(`preprocess.${field}` as 'preprocess.x')}</span><InputNumber size="small" min={min} max={max} value={(step as unknown as Record<string, number>)[field]} onChange={(v) => set(i, { ...step, [field]: v ?? min } as Step)} /></label>
  )
  return (
    <FormDialog wide title={t('preprocess.title')} dirty={steps.length > 0 && !run.isSuccess} busy={run.isPending} submitText={t('preprocess.run')} submittable={steps.length > 0} onClose={onClose} onSubmit={() => { if (steps.length > 0) run.mutate() }} error={run.error ? <ProblemNote error={run.error} /> : null}>
      <p className="muted">{t('preprocess.help')}</p>
      <div className="preprocess">
        <div>
          <ol className="steps">
            {steps.map((step, i) => (
              <li key={i}>
                <div className="row"><span className="num muted">{i + 1}</span><strong className="grow">{t(`step.${step.op}`)}</strong>
                  <Button type="text" size="small" disabled={i === 0} aria-label={t('preprocess.up', { n: i + 1 })} icon={<Icon name="up" size={12} />} onClick={() => setSteps(moveStep(steps, i, -1))} />
                  <Button type="text" size="small" disabled={i === steps.length - 1} aria-label={t('preprocess.down', { n: i + 1 })} icon={<Icon name="down" size={12} />} onClick={() => setSteps(moveStep(steps, i, 1))} />
                  <Button type="text" size="small" aria-label={t('preprocess.remove', { n: i + 1 })} icon={<Icon name="trash" size={12} />} onClick={() => setSteps(steps.filter((_, k) => k !== i))} />
                </div>
                {step.op === 'blur' && <>{number(i, step, 'threshold', 0, 5000)}<p className="field-help">{t('preprocess.blurHelp')}</p><SharpnessHistogram version={version} threshold={step.threshold} onThreshold={(threshold) => set(i, { op: 'blur', threshold })} /></>}
                {step.op === 'rotate' && number(i, step, 'angle', -360, 360)}
                {step.op === 'crop' && <div className="crop">{number(i, step, 'x', 0, 1e6)}{number(i, step, 'y', 0, 1e6)}{number(i, step, 'w', 1, 1e6)}{number(i, step, 'h', 1, 1e6)}</div>}
              </li>
            ))}
          </ol>
          <Dropdown trigger={['click']} disabled={samples.isPending || steps.length >= mostSteps} menu={{ items: stepNames.map((name) => ({ key: name, label: t(`step.${name}`) })), onClick: ({ key }) => {
            const [w, h] = steps.reduce<[number, number]>(([a, b], s) => sizeAfter(s, a, b), [sample?.width ?? 1, sample?.height ?? 1])
            setSteps([...steps, newStep(key as Step['op'], w, h)])
          } }}>
            <Button icon={<Icon name="plus" size={14} />} disabled={samples.isPending || steps.length >= mostSteps}>{t('preprocess.add')}</Button>
          </Dropdown>
        </div>
        {sample && (
          <div className="preview-side">
            <Preview version={version} sample={sample} steps={steps} />
            <span className="row preview-turn">
              <Button size="small" aria-label={t('keys.previousSample')} title={t('keys.previousSample')} disabled={at === 0} icon={<span className="turned"><Icon name="chevron" size={12} /></span>} onClick={() => setAt(at - 1)} />
              <Button size="small" aria-label={t('keys.nextSample')} title={t('keys.nextSample')} disabled={at + 1 >= (samples.data?.length ?? 0)} icon={<Icon name="chevron" size={12} />} onClick={() => setAt(at + 1)} />
            </span>
          </div>
        )}
      </div>
    </FormDialog>
  )
}

function Preview({ version, sample, steps }: { version: Version; sample: Sample; steps: Step[] }) {
  const { t } = useI18n()
  const target = useRef<HTMLCanvasElement>(null)
  const [picture, setPicture] = useState<HTMLImageElement | null>(null)
  const url = contentUrl(version.path, sample)
  useEffect(() => {
    const image = new Image()
    image.onload = () => setPicture(image)
    image.src = url
    return () => { image.onload = null }
  }, [url])
  const key = JSON.stringify(steps)
  useEffect(() => {
    if (!picture || !target.current) return
    let now: HTMLImageElement | HTMLCanvasElement = picture
    let [width, height] = [picture.naturalWidth, picture.naturalHeight]
    for (const step of JSON.parse(key) as Step[]) {
      const [w, h] = sizeAfter(step, width, height)
      if (step.op === 'blur' || w < 1 || h < 1) continue
      const canvas = document.createElement('canvas')
      canvas.width = w
      canvas.height = h
      const pen = canvas.getContext('2d')
      if (!pen) return
      pen.translate(w / 2, h / 2)
      if (step.op === 'rotate') pen.rotate((step.angle * Math.PI) / 180)
      if (step.op === 'mirror-h') pen.scale(-1, 1)
      if (step.op === 'mirror-v') pen.scale(1, -1)
      if (step.op === 'crop') pen.drawImage(now, -w / 2 - step.x, -h / 2 - step.y)
      else pen.drawImage(now, -width / 2, -height / 2)
      ;[now, width, height] = [canvas, w, h]
    }
    target.current.width = width
    target.current.height = height
    target.current.getContext('2d')?.drawImage(now, 0, 0)
  }, [picture, key])
  const [w, h] = steps.reduce<[number, number]>(([a, b], s) => sizeAfter(s, a, b), [sample.width, sample.height])
  return (
    <figure className="preview">
      <canvas ref={target} role="img" aria-label={t('preprocess.preview', { name: sample.name })} />
      <figcaption className="muted num">{`${sample.name.split('/').at(-1)} · ${sample.width}\u00a0×\u00a0${sample.height} → ${w}\u00a0×\u00a0${h}`}</figcaption>
    </figure>
  )
}
