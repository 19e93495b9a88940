import type { Schema } from '../../api/client'

// A log of any length as numbered lines. Only what is looked at is fetched, in chunks of lines, and only the chunks
// used lately are kept: a log of a million lines costs what a screen of it costs.
/** Some lines, where they end in bytes, and which lines there are. */
export type LogAnswer = Schema<'JobLog'>
export type LogLine = LogAnswer['lines'][number]
export type LogSearchAnswer = Schema<'JobLogMatches'>

export interface LogSource {
  /** From a line, or from a place in bytes. */
  read: (from: { line: number } | { after: number }, signal: AbortSignal) => Promise<LogAnswer>
  search: (text: string, line: number, signal: AbortSignal) => Promise<LogSearchAnswer>
  /** Calls lines as they come, with the place after them; end when the log is closed. Gives a way to stop. */
  follow: (after: number, onLines: (lines: LogLine[], next: number) => void, onEnd: () => void) => () => void
}

export const chunkLines = 500
const keptChunks = 400
export const matchLimit = 10_000

export class LogStore {
  /** Lines that there are, from 0; those before `first` are kept no more. */
  total = 0
  first = 0
  /** What was written so far is known; from now on it is followed. */
  caughtUp = false
  closed = false
  error: unknown = null
  version = 0

  private chunks = new Map<number, LogLine[]>()
  private loading = new Set<number>()
  private next = 0
  private listeners = new Set<() => void>()
  private abort = new AbortController()
  private stopFollowing: (() => void) | null = null
  private told = false

  constructor(private readonly source: LogSource, private readonly kept = keptChunks) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
  snapshot = (): number => this.version

  private tell(): void {
    this.version += 1
    if (this.told) return
    this.told = true
    // Much that comes at once makes one drawing a frame.
    const later = globalThis.requestAnimationFrame ?? ((run: () => void) => setTimeout(run, 0))
    later(() => {
      this.told = false
      for (const listener of this.listeners) listener()
    })
  }

  /** Learns how long the log is and fetches its last lines; then follows it until it is closed. */
  async start(): Promise<void> {
    this.stop()
    this.abort = new AbortController()
    const { signal } = this.abort
    try {
      let answer = await this.source.read({ line: 0 }, signal)
      this.take(0, answer)
      if (answer.next < answer.end) {
        const last = Math.floor(Math.max(answer.first_line, answer.end_line - 1) / chunkLines) * chunkLines
        const lines: LogLine[] = []
        answer = await this.source.read({ line: last }, signal)
        for (lines.push(...answer.lines); answer.next < answer.end && answer.lines.length > 0; lines.push(...answer.lines)) {
          answer = await this.source.read({ after: answer.next }, signal)
        }
        this.take(last, { ...answer, lines, end_line: Math.max(answer.end_line, last + lines.length) })
      }
      if (signal.aborted) return
      this.next = answer.next
      this.closed = answer.closed
    } catch (error) {
      if (signal.aborted) return
      this.error = error
      this.tell()
      return
    }
    this.error = null
    this.caughtUp = true
    this.tell()
    if (!this.closed) this.followOn()
  }

  private followOn(): void {
    this.stopFollowing = this.source.follow(
      this.next,
      (lines, next) => {
        if (next <= this.next) return
        this.next = next
        this.append(lines)
        this.tell()
      },
      () => {
        this.stopFollowing = null
        this.closed = true
        this.tell()
      },
    )
  }

  stop(): void {
    this.abort.abort()
    this.loading.clear()
    this.stopFollowing?.()
    this.stopFollowing = null
  }

  /** Puts fetched lines into their chunks; of a chunk that was not fetched whole nothing, unless it is the last. */
  private take(line: number, answer: LogAnswer): void {
    this.first = answer.first_line
    this.total = Math.max(this.total, answer.end_line)
    const from = Math.max(line, answer.first_line)
    const to = from + answer.lines.length
    for (let c = Math.floor(from / chunkLines); c * chunkLines < to; c += 1) {
      const start = Math.max(c * chunkLines, answer.first_line)
      const end = Math.min((c + 1) * chunkLines, this.total)
      if (start >= from && end <= to) this.keep(c, answer.lines.slice(start - from, end - from))
    }
  }

  private keep(c: number, lines: LogLine[]): void {
    this.chunks.delete(c)
    this.chunks.set(c, lines)
    for (const oldest of this.chunks.keys()) {
      if (this.chunks.size <= this.kept) break
      this.chunks.delete(oldest)
    }
  }

  private append(lines: LogLine[]): void {
    for (const line of lines) {
      const c = Math.floor(this.total / chunkLines)
      const there = this.chunks.get(c)
      if (there) there.push(line)
      // The beginning of a chunk that was shed is fetched when it is looked at.
      else if (this.total % chunkLines === 0 || this.total === this.first) this.keep(c, [line])
      this.total += 1
    }
  }

  /** undefined: not there, or on its way; listeners are told when it has come. */
  line(n: number): LogLine | undefined {
    if (n < this.first || n >= this.total) return undefined
    const c = Math.floor(n / chunkLines)
    const lines = this.chunks.get(c)
    if (!lines) {
      void this.load(c)
      return undefined
    }
    return lines[n - Math.max(c * chunkLines, this.first)]
  }

  private async load(c: number): Promise<void> {
    if (this.loading.has(c)) return
    this.loading.add(c)
    const { signal } = this.abort
    const start = Math.max(c * chunkLines, this.first)
    const wanted = Math.min((c + 1) * chunkLines, this.total) - start
    const lines: LogLine[] = []
    try {
      let answer = await this.source.read({ line: start }, signal)
      // Long lines: a chunk may take more than one answer.
      for (lines.push(...answer.lines); lines.length < wanted && answer.lines.length > 0; lines.push(...answer.lines)) {
        answer = await this.source.read({ after: answer.next }, signal)
      }
      if (signal.aborted) return
      if (lines.length < wanted) throw new Error('the log ended early')
      this.take(start, { ...answer, lines, end_line: Math.max(answer.end_line, start + lines.length) })
    } catch (error) {
      if (signal.aborted) return
      this.error = error
    } finally {
      this.loading.delete(c)
    }
    this.tell()
  }

  /** Numbers of the lines that hold the text, in order, as they are found; ends early when the signal says so. */
  async search(text: string, signal: AbortSignal, found: (lines: number[], done: boolean) => void): Promise<void> {
    const all: number[] = []
    let line = 0
    for (let more = true; more && all.length < matchLimit; ) {
      const answer = await this.source.search(text, line, signal)
      if (signal.aborted) return
      for (const match of answer.matches) all.push(match.line)
      more = !answer.end && answer.next > line
      line = answer.next
      found(all.slice(), !more || all.length >= matchLimit)
    }
  }
}
