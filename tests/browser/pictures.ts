import { deflateSync } from 'node:zlib'

// Pictures and archives for tests, made here so that no binary files are kept.
const table = Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c >>> 0
})

function crc32(data: Buffer): number {
  let c = 0xffffffff
  for (const byte of data) c = (table[(c ^ byte) & 0xff] as number) ^ (c >>> 8)
  return (c ^ 0xffffffff) >>> 0
}

function u32(value: number, little = false): Buffer {
  const b = Buffer.alloc(4)
  if (little) b.writeUInt32LE(value)
  else b.writeUInt32BE(value)
  return b
}

function u16(value: number): Buffer {
  const b = Buffer.alloc(2)
  b.writeUInt16LE(value)
  return b
}

/** A picture by the colour of each pixel. */
function paint(width: number, height: number, colourAt: (x: number, y: number) => readonly [number, number, number]): Buffer {
  const rows = Buffer.alloc(height * (1 + width * 3))
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) rows.set(colourAt(x, y), y * (1 + width * 3) + 1 + x * 3)
  }
  const chunk = (kind: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(kind), data])
    return Buffer.concat([u32(data.length), body, u32(crc32(body))])
  }
  const head = Buffer.concat([u32(width), u32(height), Buffer.from([8, 2, 0, 0, 0])])
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

/** A coloured picture; the seed makes it different. */
export function png(width: number, height: number, seed: number): Buffer {
  return paint(width, height, (x, y) => [
    (x * 2 + seed * 21) % 256,
    (y * 3 + seed * 47) % 256,
    (Math.floor(x / 16) + Math.floor(y / 16) + seed) % 2 === 0 ? 90 : 200,
  ])
}

/** A round thing of a colour on grey; the seed says where and how large it is. */
export function painted(width: number, height: number, colour: readonly [number, number, number], seed: number): Buffer {
  const radius = (0.28 + 0.03 * (seed % 4)) * Math.min(width, height)
  const [cx, cy] = [width * (0.42 + 0.05 * (seed % 3)), height * (0.44 + 0.04 * (seed % 5))]
  return paint(width, height, (x, y) => {
    const shade = (x * 7 + y * 13 + seed * 29) % 24
    return Math.hypot(x - cx, y - cy) < radius ? [colour[0] + shade, colour[1] + shade, colour[2] + shade] : [150 + shade, 150 + shade, 150 + shade]
  })
}

/** A zip archive whose files are stored as they are. */
export function zip(files: Record<string, Buffer>): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, data] of Object.entries(files)) {
    const path = Buffer.from(name)
    const common = Buffer.concat([u16(20), u16(0x800), u16(0), u16(0), u16(0x21), u32(crc32(data), true), u32(data.length, true), u32(data.length, true), u16(path.length), u16(0)])
    const local = Buffer.concat([u32(0x04034b50, true), common, path, data])
    directory.push(Buffer.concat([u32(0x02014b50, true), u16(20), common, u16(0), u16(0), u16(0), u32(0, true), u32(offset, true), path]))
    parts.push(local)
    offset += local.length
  }
  const list = Buffer.concat(directory)
  const count = Object.keys(files).length
  return Buffer.concat([...parts, list, u32(0x06054b50, true), u16(0), u16(0), u16(count), u16(count), u32(list.length, true), u32(offset, true), u16(0)])
}

/** Twelve pictures of 160 x 120, the first two with boxes, as COCO. */
export function cocoZip(): Buffer {
  const files: Record<string, Buffer> = {}
  const images = []
  for (let i = 0; i < 12; i += 1) {
    const name = `${String(i).padStart(3, '0')}.png`
    files[`images/${name}`] = png(160, 120, i)
    images.push({ id: i, file_name: name, width: 160, height: 120 })
  }
  const annotations = [
    { id: 1, image_id: 0, category_id: 1, bbox: [10, 10, 60, 50] },
    { id: 2, image_id: 0, category_id: 2, bbox: [80, 40, 50, 60] },
    { id: 3, image_id: 1, category_id: 2, bbox: [20, 20, 500, 40] },
  ]
  files['annotations/train.json'] = Buffer.from(JSON.stringify({ images, annotations, categories: [{ id: 1, name: 'cat' }, { id: 2, name: 'dog' }] }))
  return zip(files)
}
