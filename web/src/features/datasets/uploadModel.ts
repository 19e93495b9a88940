// Arithmetic of uploads and reading of what is dropped on the page. Pure but for the browser's own file entries.
export interface Point {
  at: number
  bytes: number
}

export const retryDelays = [0, 1000, 3000, 5000, 10_000, 20_000]

const remembered = 10_000

/** Keeps the last ten seconds. */
export function addPoint(points: readonly Point[], point: Point): Point[] {
  return [...points.filter((p) => p.at >= point.at - remembered), point]
}

/** Bytes per second over the kept time; null while there is too little to tell. */
export function rateOf(points: readonly Point[]): number | null {
  const first = points[0]
  const last = points.at(-1)
  if (!first || !last || last.at - first.at < 500 || last.bytes <= first.bytes) return null
  return ((last.bytes - first.bytes) * 1000) / (last.at - first.at)
}

export interface Sum {
  sent: number
  total: number
  files: number
  done: number
}

export function sumOf(entries: readonly { sent: number; file: { size: number }; state: string }[]): Sum {
  const sum = { sent: 0, total: 0, files: entries.length, done: 0 }
  for (const entry of entries) {
    sum.sent += Math.min(entry.sent, entry.file.size)
    sum.total += entry.file.size
    if (entry.state === 'done') sum.done += 1
  }
  return sum
}

/** By name: folders give their files in any order. The same name once, the later file; files that systems leave behind are not
 * wanted. */
export function merge<F extends { name: string }>(before: readonly F[], more: readonly F[]): F[] {
  const all = new Map(before.map((f) => [f.name, f]))
  for (const file of more) if (!/(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini|__MACOSX\/.*)$/.test(file.name)) all.set(file.name, file)
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

export interface Dropped {
  name: string
  file: File
}

export function ofInput(files: FileList | null): Dropped[] {
  return [...(files ?? [])].map((file) => ({ name: file.webkitRelativePath || file.name, file }))
}

/** Files and all that is in folders. */
export async function ofDrop(transfer: DataTransfer): Promise<Dropped[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null)
  if (entries.every((e) => e === null)) return ofInput(transfer.files)
  const found: Dropped[] = []
  for (const entry of entries) if (entry) await walk(entry, '', found)
  return found
}

async function walk(entry: FileSystemEntry, folder: string, found: Dropped[]): Promise<void> {
  const name = folder + entry.name
  if (entry.isFile) {
    const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail))
    found.push({ name, file })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  for (;;) {
    // A reader gives a hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail))
    if (some.length === 0) return
    for (const each of some) await walk(each, `${name}/`, found)
  }
}
