/** The pixels (row by row) of a mask in COCO's compressed run lengths, which go column by column. */
export function decodeMask(counts: string, width: number, height: number): Uint8Array {
  const bits = new Uint8Array(width * height)
  let at = 0
  let i = 0
  let set = false
  const runs: number[] = []
  while (i < counts.length && at < bits.length) {
    let value = 0
    let shift = 0
    let code = 0
    do {
      code = counts.charCodeAt(i) - 48
      i += 1
      value |= (code & 0x1f) << shift
      shift += 5
    } while (code & 0x20 && i < counts.length)
    if (code & 0x10 && shift < 32) value |= -1 << shift
    if (runs.length > 2) value += runs[runs.length - 2] ?? 0
    runs.push(value)
    const end = Math.min(bits.length, at + Math.max(0, value))
    if (set) for (let p = at; p < end; p += 1) bits[(p % height) * width + Math.floor(p / height)] = 1
    at = end
    set = !set
  }
  return bits
}
