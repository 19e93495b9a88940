// The picture under the shapes: one bitmap in the size that is wanted (bitmap.ts), or tiles of which only those in sight are
// fetched. The browser decodes, scales and filters them outside of our script; neither runs what a malicious file holds.
import type { Picture, Viewport, ViewSettings } from '../api'
import { decode, levelFor, loadPicture, type PictureFile } from './bitmap'
import { visible, type Size } from './view'

export interface PictureLayer {
  readonly element: HTMLElement
  /** The picture itself, for the minimap; null while it is loading and for tiles. */
  readonly image: HTMLCanvasElement | null
  /** `arrived`: a tile came, the next frame may drop others. */
  open(picture: Picture, tell: (state: 'loading' | 'shown' | 'failed') => void, arrived: () => void): void
  frame(view: Viewport, window: Size, ratio: number): void
  set(settings: ViewSettings): void
  close(): void
}

const tileSize = 256
/** Tiles kept, those in sight and the last ones seen. */
const mostTiles = 240

interface Tile {
  readonly img: HTMLImageElement
  readonly level: number
  seen: number
  loaded: boolean
}

export function createPicture(): PictureLayer {
  const element = document.createElement('div')
  element.style.cssText = 'position:absolute;left:0;top:0;transform-origin:0 0'
  let picture: Picture | null = null
  let image: HTMLCanvasElement | null = null
  let blob: Blob | null = null
  /** Of the bitmap that is shown, and the one that is wanted. */
  let level = 0
  let wanted = 0
  let decoding = false
  let smooth = false
  let count = 0
  let came = (): void => undefined
  const tiles = new Map<string, Tile>()

  function close(): void {
    // Without an address the browser lets go of the decoded tile at once, without a size of the bitmap.
    for (const img of element.querySelectorAll('img')) img.removeAttribute('src')
    if (image) image.width = image.height = 0
    element.replaceChildren()
    tiles.clear()
    picture = null
    image = null
    blob = null
    delete element.dataset['src']
  }

  function put(bitmap: ImageBitmap, at: number): void {
    if (!image) {
      image = document.createElement('canvas')
      image.style.cssText = 'position:absolute;left:0;top:0;width:100%;height:100%;user-select:none'
      element.append(image)
    }
    level = at
    image.width = bitmap.width
    image.height = bitmap.height
    image.getContext('bitmaprenderer')?.transferFromImageBitmap(bitmap)
    bitmap.close()
  }

  const given = (file: NonNullable<Extract<Picture, { url: string }>['file']>): void => void Promise.resolve(file).then((f) => f.bitmap.close(), () => undefined)

  function open(next: Picture, tell: (state: 'loading' | 'shown' | 'failed') => void, arrived: () => void): void {
    came = arrived
    // Another document over the same picture.
    if (picture && image && 'url' in picture && 'url' in next && picture.url === next.url) {
      if (next.file) given(next.file)
      picture = next
      return tell('shown')
    }
    close()
    picture = next
    element.style.width = `${next.width}px`
    element.style.height = `${next.height}px`
    if ('tiles' in next) return tell('shown')
    element.dataset['src'] = next.url
    const here = (): boolean => picture === next
    const show = (file: PictureFile): void => {
      if (!here()) return file.bitmap.close()
      blob = file.blob
      wanted = file.level
      put(file.bitmap, file.level)
      tell('shown')
    }
    if (next.file && !('then' in next.file)) return show(next.file)
    tell('loading')
    const load = (): Promise<PictureFile> => loadPicture(next.url, next, () => wanted)
    const coming = next.file?.catch(load) ?? load()
    coming.then(show, () => void (here() && tell('failed')))
  }

  /** Another zoom wants the picture in another size: the old one is shown until that is there. */
  function resize(of: Picture): void {
    const bytes = blob
    if (!bytes || decoding || wanted === level) return
    const now = wanted
    decoding = true
    decode(bytes, of, now).then((bitmap) => {
      decoding = false
      if (blob === bytes) put(bitmap, now)
      else bitmap.close()
      came()
    }, () => {
      decoding = false
      level = now
    })
  }

  function need(from: Extract<Picture, { tiles: unknown }>, level: number, x: number, y: number): Tile {
    const key = `${level}/${x}/${y}`
    let tile = tiles.get(key)
    if (!tile) {
      const img = new Image()
      const side = tileSize * 2 ** level
      img.alt = ''
      img.draggable = false
      img.decoding = 'async'
      // The last tile of a row or column is smaller.
      img.style.cssText = `position:absolute;left:${x * side}px;top:${y * side}px;width:${Math.min(side, from.width - x * side)}px;height:${Math.min(side, from.height - y * side)}px;z-index:${20 - level};user-select:none`
      const made: Tile = { img, level, seen: count, loaded: false }
      img.onload = () => {
        made.loaded = true
        came()
      }
      img.src = from.tiles(level, x, y)
      element.append(img)
      tiles.set(key, (tile = made))
    }
    tile.seen = count
    return tile
  }

  function layTiles(from: Extract<Picture, { tiles: unknown }>, view: Viewport, window: Size, ratio: number): void {
    const top = Math.max(0, Math.ceil(Math.log2(Math.max(from.width, from.height) / tileSize)))
    const level = Math.max(0, Math.min(top, Math.floor(Math.log2(1 / (view.scale * ratio)) + 0.2)))
    const side = tileSize * 2 ** level
    const r = visible(view, window)
    count += 1
    // One tile that holds the whole picture stays below the others, so that there is no white while they come.
    need(from, top, 0, 0)
    let all = true
    const last = { x: Math.ceil(from.width / side) - 1, y: Math.ceil(from.height / side) - 1 }
    for (let y = Math.max(0, Math.floor(r.minY / side)); y <= Math.min(last.y, Math.floor(r.maxY / side)); y += 1) {
      for (let x = Math.max(0, Math.floor(r.minX / side)); x <= Math.min(last.x, Math.floor(r.maxX / side)); x += 1) all = need(from, level, x, y).loaded && all
    }
    drop((t) => all && t.level !== level && t.level !== top)
    if (tiles.size > mostTiles) {
      const oldest = [...tiles.values()].filter((t) => t.seen !== count).sort((a, b) => a.seen - b.seen).slice(0, tiles.size - mostTiles)
      const gone = new Set(oldest)
      drop((t) => gone.has(t))
    }
  }

  function drop(which: (tile: Tile) => boolean): void {
    for (const [key, tile] of tiles) {
      if (!which(tile)) continue
      tile.img.removeAttribute('src')
      tile.img.remove()
      tiles.delete(key)
    }
  }

  return {
    element,
    get image() { return image },
    open,
    frame(view, window, ratio) {
      element.style.transform = `matrix(${view.scale},0,0,${view.scale},${view.x},${view.y})`
      const rendering = !smooth && view.scale >= 2 ? 'pixelated' : 'auto'
      if (element.style.imageRendering !== rendering) element.style.imageRendering = rendering
      if (!picture) return
      if ('tiles' in picture) return layTiles(picture, view, window, ratio)
      wanted = levelFor(picture, view.scale * ratio)
      resize(picture)
    },
    set(settings) {
      smooth = settings.smooth
      const { brightness, contrast } = settings
      element.style.filter = brightness === 1 && contrast === 1 ? '' : `brightness(${brightness}) contrast(${contrast})`
    },
    close,
  }
}
