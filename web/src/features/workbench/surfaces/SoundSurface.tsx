import { useQuery } from '@tanstack/react-query'
import { Button, Select, Switch } from 'antd'
import { useEffect, useImperativeHandle, useRef, useState } from 'react'
import WaveSurfer from 'wavesurfer.js'
import { useLatest } from '../../../components/hooks'
import { Icon } from '../../../components/Icon'
import { useI18n } from '../../../i18n'
import { soundPeaks } from '../../datasets/peaks'
import { contentUrl } from '../../datasets/samples'
import type { Sample, SurfaceProps } from '../surface'
import { Chosen } from './Chosen'
import { clock, speedBy, speeds, wavesOf } from './soundModel'
import './surfaces.css'

const skip = 5

interface Sounding {
  ready: boolean
  playing: boolean
  at: number
  duration: number
  failed: boolean
}

const silent: Sounding = { ready: false, playing: false, at: 0, duration: 0, failed: false }

/** A sound to be heard and labelled: wave form, play, speed, loop. Speed and loop stay from one sample to the next. */
export function SoundSurface({ bench, sample, document, labels, handle }: SurfaceProps) {
  const { t, n } = useI18n()
  const [speed, setSpeed] = useState(1)
  const [loop, setLoop] = useState(false)
  const { host, wave, sounding } = useWave(bench.path, sample, speed, loop)
  const { ready, playing, failed } = sounding
  useEffect(() => {
    if (ready || failed) bench.tell({ type: 'shown', sample: sample.id })
  }, [bench, ready, failed, sample.id])

  const play = () => void wave.current?.playPause().catch(() => undefined)
  const skipBy = (seconds: number) => wave.current?.skip(seconds)
  const commands: Record<string, () => void> = {
    play,
    restart: () => wave.current?.setTime(0),
    back: () => skipBy(-skip),
    forward: () => skipBy(skip),
    slower: () => setSpeed((now) => speedBy(now, -1)),
    faster: () => setSpeed((now) => speedBy(now, 1)),
    loop: () => setLoop((now) => !now),
  }
  useImperativeHandle(handle, () => ({
    command: (name) => {
      commands[name]?.()
      return name in commands
    },
    label: () => false,
    focus: () => host.current?.focus({ preventScroll: true }),
  }))

  return (
    <section className="hearing" aria-label={sample.name}>
      <div className="hearing-head"><h2 className="clip-line" title={sample.name}>{sample.name.split('/').at(-1)}</h2><span className="grow" /><Chosen document={document} labels={labels} colorOf={bench.colorOf} /></div>
      {failed && <p className="note" role="alert">{t('soundSurface.failed')}</p>}
      <div ref={host} className="hearing-wave" tabIndex={-1} aria-busy={!ready && !failed} />
      <div className="hearing-tools">
        <Button type="primary" disabled={failed} icon={<Icon name={playing ? 'pause' : 'play'} size={14} />} onClick={play}>{t(playing ? 'soundSurface.pause' : 'soundSurface.play')}</Button>
        <Button disabled={failed} onClick={() => skipBy(-skip)}>{t('soundSurface.back', { n: skip })}</Button>
        <Button disabled={failed} onClick={() => skipBy(skip)}>{t('soundSurface.forward', { n: skip })}</Button>
        <span className="num hearing-clock" role="timer">{clock(sounding.at)} / {clock(sounding.duration || sample.duration)}</span>
        <span className="grow" />
        <label className="row">{t('soundSurface.speed')}<Select size="small" aria-label={t('soundSurface.speed')} value={speed} onChange={setSpeed} options={speeds.map((s) => ({ value: s, label: `${n(s)}×` }))} popupMatchSelectWidth={false} /></label>
        <label className="row"><Switch size="small" aria-label={t('soundSurface.loop')} checked={loop} onChange={setLoop} />{t('soundSurface.loop')}</label>
      </div>
      <p className="muted sheet-hint">{t('soundSurface.hint')}</p>
    </section>
  )
}

/** The player of one sample. Its colours are the theme's. */
function useWave(path: string, sample: Sample, speed: number, loop: boolean) {
  const host = useRef<HTMLDivElement>(null)
  const wave = useRef<WaveSurfer | null>(null)
  const [sounding, setSounding] = useState(silent)
  const peaks = useQuery({
    queryKey: ['sample-peaks-wide', sample.digest],
    queryFn: ({ signal }) => soundPeaks(path, sample, 1000, signal),
    staleTime: Infinity,
    retry: false,
  })
  const known = !peaks.isPending
  const onFinish = useLatest(() => {
    if (loop) void wave.current?.play().catch(() => undefined)
  })
  const setUp = useLatest((made: WaveSurfer) => made.setPlaybackRate(speed, true))
  const url = contentUrl(path, sample)
  const { duration } = sample
  useEffect(() => {
    const node = host.current
    if (!node || !known) return
    setSounding(silent)
    const style = getComputedStyle(node)
    const media = new Audio(url)
    media.preload = 'metadata'
    const drawn = peaks.data ? wavesOf(peaks.data) : [[0, 0]]
    const made = WaveSurfer.create({
      container: node, media, height: 160, waveColor: style.getPropertyValue('--muted'), progressColor: style.getPropertyValue('--link'), cursorColor: style.getPropertyValue('--text'), cursorWidth: 2, dragToSeek: true, normalize: true,
      peaks: drawn, ...(duration > 0 && { duration }),
    })
    wave.current = made
    setUp(made)
    const change = (part: Partial<Sounding>) => setSounding((old) => ({ ...old, ...part }))
    made.on('ready', (seconds) => change({ ready: true, duration: seconds }))
    made.on('play', () => change({ playing: true }))
    made.on('pause', () => change({ playing: false }))
    made.on('timeupdate', (at) => change({ at }))
    made.on('finish', onFinish)
    made.on('error', () => change({ failed: true, playing: false }))
    return () => {
      wave.current = null
      made.destroy()
      media.removeAttribute('src')
    }
  }, [url, known, peaks.data, duration, onFinish, setUp])
  useEffect(() => wave.current?.setPlaybackRate(speed, true), [speed])
  return { host, wave, sounding }
}
