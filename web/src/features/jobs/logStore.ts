// A log of any length as numbered lines. It is read page by page in the background; the places of all pages are
// remembered, the text only of those used lately, so that a huge log does not fill the memory of the browser.
import { plainText } from './ansi'

export interface LogLine {
  at: string
  stream: 'output' | 'error' | 'platform'
  text: string
}

/** As GET /jobs/{id}/log answers. */
export interface LogAnswer {
  first: number
  end: number
  next: number
  closed: boolean
  lines: LogLine[]
}

export interface LogSource {
  read: (after: number, signal: AbortSignal) => Promise<LogAnswer>
  /** Calls lines as they come, with the place after them; end when the log is closed. Gives a way to stop. */
  follow: (after: number, onLines: (lines: LogLine[], next: number) => void, onEnd: (closed: boolean) => void) => () => void
}

interface Page {
  offset: number
  first: number
  count: number
  lines: LogLine[] | null
}

const keptLines = 1_500_000
const livePage = 2000
export const matchLimit = 10_000

export class LogStore {
  total = 0
  /** Everything that was written so far is known. */
  caughtUp = false
  closed = false
  error: unknown = null
  /** Bytes read, of bytes there. */
  read = 0
  end = 0
  /** Bytes at the beginning that are kept no more. */
  dropped = 0
  version = 0

  private pages: Page[] = []
  private held = 0
  private next = 0
  private listeners = new Set<() => void>()
  private loading = new Map<Page, Promise<void>>()
  private abort = new AbortController()
  private stopFollowing: (() => void) | null = null
  private told = false

  constructor(private readonly source: LogSource, private readonly kept = keptLines) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
  snapshot = (): number => this.version

  private tell(): void {
    this.version += 1
    if (this.told) return
    this.told = true
    // Many pages a second make one drawing a frame.
    const later = globalThis.requestAnimationFrame ?? ((run: () => void) => setTimeout(run, 0))
    later(() => {
      this.told = false
      for (const listener of this.listeners) listener()
    })
  }

  async start(): Promise<void> {
    this.abort.abort()
    this.abort = new AbortController()
    const { signal } = this.abort
    try {
      while (!signal.aborted) {
        const answer = await this.source.read(this.next, signal)
        if (signal.aborted) return
        this.error = null
        if (this.pages.length === 0) this.dropped = answer.first
        if (answer.lines.length > 0) this.add(Math.max(this.next, answer.first), answer.lines)
        const moved = answer.next > this.next
        this.next = Math.max(this.next, answer.next)
        this.read = this.next
        this.end = Math.max(answer.end, this.next)
        this.closed = answer.closed
        if (!moved || answer.next >= answer.end) break
        this.tell()
      }
    } catch (error) {
      if (signal.aborted) return
      this.error = error
      this.tell()
      return
    }
    if (signal.aborted) return
    this.caughtUp = true
    this.tell()
    if (!this.closed) this.followOn()
  }

  private followOn(): void {
    this.stopFollowing?.()
    this.stopFollowing = this.source.follow(
      this.next,
      (lines, next) => {
        if (next <= this.next) return
        this.addLive(lines)
        this.next = next
        this.read = this.end = next
        this.tell()
      },
      (closed) => {
        this.stopFollowing = null
        this.closed = closed
        this.tell()
      },
    )
  }

  stop(): void {
    this.abort.abort()
    this.stopFollowing?.()
    this.stopFollowing = null
  }

  private add(offset: number, lines: LogLine[]): void {
    this.pages.push({ offset, first: this.total, count: lines.length, lines })
    this.total += lines.length
    this.held += lines.length
    this.shed()
  }

  /** Lines that come one by one share a page until it is full. */
  private addLive(lines: LogLine[]): void {
    const last = this.pages[this.pages.length - 1]
    if (last?.lines && last.count < livePage) {
      last.lines = last.lines.concat(lines)
      last.count += lines.length
      this.total += lines.length
      this.held += lines.length
    } else this.add(this.next, lines)
  }

  /** Forgets the text of pages far from both ends, oldest first. */
  private shed(): void {
    for (let i = 1; this.held > this.kept && i < this.pages.length - 2; i += 1) {
      const page = this.pages[i]
      if (!page?.lines) continue
      this.held -= page.count
      page.lines = null
    }
  }

  private pageOf(line: number): Page | undefined {
    let low = 0
    let high = this.pages.length - 1
    while (low < high) {
      const mid = (low + high + 1) >> 1
      if ((this.pages[mid]?.first ?? 0) <= line) low = mid
      else high = mid - 1
    }
    const page = this.pages[low]
    return page && line >= page.first && line < page.first + page.count ? page : undefined
  }

  /** undefined: not there, or on its way; listeners are told when it has come. */
  line(n: number): LogLine | undefined {
    const page = this.pageOf(n)
    if (!page) return undefined
    if (page.lines) return page.lines[n - page.first]
    void this.fetchAgain(page)
    return undefined
  }

  private fetchAgain(page: Page): Promise<void> {
    const known = this.loading.get(page)
    if (known) return known
    const run = this.again(page).finally(() => this.loading.delete(page))
    this.loading.set(page, run)
    return run
  }

  private async again(page: Page): Promise<void> {
    const lines: LogLine[] = []
    let at = page.offset
    try {
      while (lines.length < page.count) {
        const answer = await this.source.read(at, this.abort.signal)
        if (answer.lines.length === 0) break
        lines.push(...answer.lines)
        at = answer.next
      }
    } catch (error) {
      if (!this.abort.signal.aborted) this.error = error
      return
    }
    page.lines = lines.slice(0, page.count)
    this.held += page.count
    this.shed()
    page.lines ??= lines.slice(0, page.count)
    this.tell()
  }

  /** Numbers of the lines that hold the text, in order, as they are found; ends early when the signal says so. */
  async search(text: string, signal: AbortSignal, found: (lines: number[], done: boolean) => void): Promise<void> {
    const wanted = text.toLowerCase()
    const all: number[] = []
    for (let i = 0; i < this.pages.length && all.length < matchLimit; i += 1) {
      const page = this.pages[i]
      if (!page) break
      if (!page.lines) await this.fetchAgain(page)
      if (signal.aborted) return
      page.lines?.forEach((line, k) => {
        if (all.length < matchLimit && plainText(line.text).toLowerCase().includes(wanted)) all.push(page.first + k)
      })
      if (i % 16 === 15) {
        found(all.slice(), false)
        await new Promise((done) => setTimeout(done, 0))
        if (signal.aborted) return
      }
    }
    found(all, true)
  }
}
