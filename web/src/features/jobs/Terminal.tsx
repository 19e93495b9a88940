import { FitAddon } from '@xterm/addon-fit'
import { Terminal as Xterm } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import { Button } from 'antd'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { theme } from '../../app/prefs'
import type { Item } from '../../api/kinds'
import { serverBack } from '../../api/reach'
import { useI18n } from '../../i18n'
import { RankPicker } from './RankPicker'

type Connection = 'connecting' | 'open' | 'lost' | 'closed'

/** A container is known again a moment after the server is back. */
const triesAfterLoss = 10
/** A WebSocket's: the server goes away, nothing was said, it restarts. */
const lossCodes = [1001, 1006, 1012]

const light = { background: '#ffffff', foreground: '#17211f', cursor: '#0f766e', cursorAccent: '#ffffff', selectionBackground: '#b9dedb', black: '#17211f', red: '#b42318', green: '#1a7436', yellow: '#8a5a00', blue: '#2257c4', magenta: '#8b2fa8', cyan: '#0b6b63', white: '#56625f', brightBlack: '#56625f', brightRed: '#b42318', brightGreen: '#1a7436', brightYellow: '#8a5a00', brightBlue: '#2257c4', brightMagenta: '#8b2fa8', brightCyan: '#0b6b63', brightWhite: '#17211f' }
const dark = { background: '#0c0f10', foreground: '#e3e8e8', cursor: '#56cdbf', cursorAccent: '#0c0f10', selectionBackground: '#1d4f4a' }

/** The cell to draw in and the wire to the shell; ends with the effect that made it. */
function connect(box: HTMLElement, url: string, screen: Xterm, newShell: () => string, onState: (state: Connection) => void): () => void {
  const fit = new FitAddon()
  screen.loadAddon(fit)
  screen.open(box)
  fit.fit()
  let socket: WebSocket
  const gone = new AbortController()
  const size = () => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ rows: screen.rows, cols: screen.cols }))
  }
  const encoder = new TextEncoder()
  const open = (tries: number) => {
    let ended = false
    let opened = false
    socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    socket.onopen = () => {
      opened = true
      onState('open')
      size()
      screen.focus()
    }
    // Texts are not the terminal's: the last one tells the exit code.
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      if (typeof event.data === 'string') ended = true
      else screen.write(new Uint8Array(event.data))
    }
    // A shell that did not end was lost with the connection: another is opened below what the screen shows.
    socket.onclose = ({ code }) => {
      if (ended || !lossCodes.includes(code) || (!opened && tries === 0)) return onState('closed')
      onState('lost')
      serverBack(gone.signal).then(() => again(opened ? triesAfterLoss : tries - 1), () => undefined)
    }
  }
  let timer: number | undefined
  const again = (tries: number) => {
    timer = window.setTimeout(() => {
      screen.write(`\r\n\x1b[2m${newShell()}\x1b[0m\r\n`)
      open(tries)
    }, 1000)
  }
  open(0)
  screen.onData((text) => {
    const bytes = encoder.encode(text)
    // A paste may be longer than one message may be.
    for (let i = 0; i < bytes.length; i += 32_768) if (socket.readyState === WebSocket.OPEN) socket.send(bytes.subarray(i, i + 32_768))
  })
  screen.onResize(size)
  const observer = new ResizeObserver(() => fit.fit())
  observer.observe(box)
  return () => {
    observer.disconnect()
    gone.abort()
    window.clearTimeout(timer)
    socket.onclose = null
    socket.close()
    screen.dispose()
  }
}

/** A shell in the running container. */
export function TerminalTab({ job }: { job: Item }) {
  const { t } = useI18n()
  const [rank, setRank] = useState(0)
  const [round, setRound] = useState(0)
  const [state, setState] = useState<Connection>('connecting')
  const box = useRef<HTMLDivElement>(null)
  const screen = useRef<Xterm | null>(null)
  const isDark = useSyncExternalStore(theme.subscribe, theme.dark)
  const running = job['state'] === 'running'
  const newShell = useRef('')
  newShell.current = t('terminal.newShell')
  useEffect(() => {
    if (!box.current || !running) return
    setState('connecting')
    const made = new Xterm({ fontSize: 13, fontFamily: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", "Noto Sans Mono CJK SC", monospace', cursorBlink: false, scrollback: 10_000, screenReaderMode: true })
    screen.current = made
    const where = `${window.location.protocol === 'https:' ? 'wss' : 'ws'}://${window.location.host}/api/v1/jobs/${job.id}/terminal?rank=${rank}`
    return connect(box.current, where, made, () => newShell.current, setState)
  }, [job.id, rank, round, running])
  useEffect(() => {
    if (screen.current) screen.current.options.theme = isDark ? dark : light
  }, [isDark, rank, round, running])
  if (!running) return <p className="muted" role="status">{t('terminal.waiting')}</p>
  return (
    <section aria-label={t('job.terminal')}>
      <div className="tools">
        <RankPicker job={job} rank={rank} onRank={setRank} />
        <span className={`state state-${state === 'open' ? 'running' : state === 'closed' ? 'stopped' : 'starting'}`} role="status"><i aria-hidden="true" />{t(`terminal.${state}`)}</span>
        {state === 'closed' && <Button size="small" type="primary" onClick={() => setRound(round + 1)}>{t('terminal.again')}</Button>}
        <span className="muted">{t('terminal.hint')}</span>
      </div>
      <div ref={box} className="terminal-box" data-state={state} />
    </section>
  )
}
