import { Button, Input, Switch } from 'antd'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useKeys, type Shortcut } from '../../app/keys'
import type { Item } from '../../api/kinds'
import { apiUrl, Problem } from '../../api/client'
import { useDebounced } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { isOver, logSource } from './jobs'
import { LogLines } from './LogLines'
import { LogStore, matchLimit } from './logStore'
import { RankPicker } from './RankPicker'

interface Matches {
  lines: number[]
  done: boolean
  error?: unknown
}

/** Numbers of the lines that hold a text, as they are found. */
function useMatches(store: LogStore, text: string): Matches {
  const [found, setFound] = useState<Matches>({ lines: [], done: true })
  const caughtUp = store.caughtUp
  useEffect(() => {
    if (text === '') {
      setFound({ lines: [], done: true })
      return
    }
    const abort = new AbortController()
    setFound({ lines: [], done: false })
    store.search(text, abort.signal, (lines, done) => setFound({ lines, done })).catch((error: unknown) => {
      if (!abort.signal.aborted) setFound({ lines: [], done: true, error })
    })
    return () => abort.abort()
  }, [store, text, caughtUp])
  return found
}

export function LogTab({ job }: { job: Item }) {
  const [rank, setRank] = useState(0)
  const last = Number(job['attempt']) || 1
  const [attempt, setAttempt] = useState(last)
  const shown = Math.min(attempt, last)
  return (
    <Viewer key={`${rank}-${shown}`} job={job} rank={rank} attempt={shown}>
      <RankPicker job={job} rank={rank} onRank={setRank} attempt={shown} onAttempt={setAttempt} />
    </Viewer>
  )
}

const shortcuts: readonly Shortcut[] = [{ keys: '/', label: 'log.search', group: 'page', run: () => document.getElementById('log-search')?.focus() }]

function Viewer({ job, rank, attempt, children }: { job: Item; rank: number; attempt: number; children: React.ReactNode }) {
  const i18n = useI18n()
  const { t, n } = i18n
  const store = useMemo(() => new LogStore(logSource(job.id, rank, attempt)), [job.id, rank, attempt])
  useSyncExternalStore(store.subscribe, store.snapshot)
  const [follow, setFollow] = useState(job['state'] === 'running' || job['state'] === 'starting')
  const [times, setTimes] = useState(false)
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const [jump, setJump] = useState<{ line: number } | null>(null)
  const q = useDebounced(text, 250)
  const matches = useMatches(store, q)
  useEffect(() => {
    void store.start()
    return () => store.stop()
  }, [store])
  // A container that is just being made has no log yet.
  const early = store.error instanceof Problem && (store.error.status === 404 || store.error.status === 409) && !isOver(job['state'])
  useEffect(() => {
    if (!early) return
    const timer = window.setInterval(() => void store.start(), 1000)
    return () => window.clearInterval(timer)
  }, [early, store])
  useKeys(shortcuts)
  const goTo = (i: number) => {
    if (matches.lines.length === 0) return
    const next = (i + matches.lines.length) % matches.lines.length
    setAt(next)
    setFollow(false)
    setJump({ line: matches.lines[next] ?? 0 })
  }
  // The first hit is shown by itself.
  const first = matches.lines[0]
  useEffect(() => {
    if (first === undefined) return
    setAt(0)
    setFollow(false)
    setJump({ line: first })
  }, [first, q])
  return (
    <section className="log" aria-label={t('job.log')}>
      <div className="tools">
        {children}
        <Input
          id="log-search" className="search" suffix={text === '' ? <kbd>/</kbd> : undefined} aria-label={t('log.search')} placeholder={t('log.search')} prefix={<Icon name="search" size={14} />} value={text} allowClear
          onChange={(e) => setText(e.target.value)} onKeyDown={(e) => { if (e.key === 'Enter') goTo(at + (e.shiftKey ? -1 : 1)) }}
        />
        {q !== '' && (
          <span className="row">
            <span className="num" role="status">{matches.error ? problemText(matches.error, i18n) : matches.lines.length === 0 ? t(matches.done ? 'log.noMatch' : 'log.searching') : t('log.match', { i: n(at + 1), n: `${n(matches.lines.length)}${matches.lines.length >= matchLimit || !matches.done ? '+' : ''}` })}</span>
            <Button size="small" aria-label={t('log.previous')} icon={<Icon name="up" size={12} />} disabled={matches.lines.length === 0} onClick={() => goTo(at - 1)} />
            <Button size="small" aria-label={t('log.next')} icon={<Icon name="down" size={12} />} disabled={matches.lines.length === 0} onClick={() => goTo(at + 1)} />
          </span>
        )}
        <Input
          className="log-jump num" aria-label={t('log.jump')} placeholder={t('log.jump')} inputMode="numeric"
          onPressEnter={(e) => {
            const line = Number(e.currentTarget.value.replace(/\D/g, ''))
            if (line < 1) return
            setFollow(false)
            setJump({ line: Math.min(line, store.total) - 1 })
          }}
        />
        <span className="switch">
          <Switch size="small" id="log-follow" checked={follow} onChange={setFollow} />
          <label htmlFor="log-follow">{t('log.follow')}</label>
        </span>
        <span className="switch">
          <Switch size="small" id="log-times" checked={times} onChange={setTimes} />
          <label htmlFor="log-times">{t('log.times')}</label>
        </span>
        <span className="grow" />
        <Button icon={<Icon name="down" size={14} />} href={apiUrl(`/jobs/${job.id}/log/download`, { rank, attempt })} download>{t('log.download')}</Button>
      </div>
      {store.error !== null && !early && <p className="note note-error" role="alert">{problemText(store.error, i18n)} <Button type="link" size="small" onClick={() => void store.start()}>{t('error.retry')}</Button></p>}
      {store.first > 0 && <p className="note">{t('log.dropped', { n: n(store.first) })}</p>}
      <LogLines store={store} version={store.version} times={times} follow={follow} onFollow={setFollow} jump={jump} found={q} hit={matches.lines[at]} />
      <p className="muted num log-foot" role="status">
        {t('log.lines', { n: n(store.total - store.first) })}
        {store.caughtUp && !store.closed && ` · ${t('log.live')}`}
      </p>
    </section>
  )
}
