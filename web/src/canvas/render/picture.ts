// The picture under the shapes: one <img>, or tiles of which only those in sight are fetched. The browser decodes, scales
// and filters them outside of our script; an <img> never runs what a malicious file holds.
import type { Picture, Viewport, ViewSettings } from '../api'
import { visible, type Size } from './view'

export interface PictureLayer {
  readonly element: HTMLElement
  /** The picture itself, for the minimap; null while it is loading and for tiles. */
  readonly image: HTMLImageElement | null
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
  let image: HTMLImageElement | null = null
  let shown = false
  let smooth = false
  let count = 0
  let came = (): void => undefined
  const tiles = new Map<string, Tile>()

  function close(): void {
    // Without an address the browser lets go of the decoded picture at once.
    for (const img of element.querySelectorAll('img')) img.removeAttribute('src')
    element.replaceChildren()
    tiles.clear()
    picture = null
    image = null
    shown = false
  }

  function open(next: Picture, tell: (state: 'loading' | 'shown' | 'failed') => void, arrived: () => void): void {
    close()
    came = arrived
    picture = next
    element.style.width = `${next.width}px`
    element.style.height = `${next.height}px`
    if ('tiles' in next) return tell('shown')
    const img = next.element ?? new Image()
    const here = (): boolean => picture === next
    const ready = (): void => {
      if (!here()) return
      shown = true
      tell('shown')
    }
    image = img
    img.alt = ''
    img.draggable = false
    img.style.cssText = 'position:absolute;left:0;top:0;width:100%;height:100%;user-select:none'
    element.append(img)
    if (next.element?.complete && next.element.naturalWidth > 0) return ready()
    tell('loading')
    img.onload = ready
    img.onerror = () => void (here() && tell('failed'))
    if (!next.element) img.src = next.url
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
    get image() { return shown ? image : null },
    open,
    frame(view, window, ratio) {
      element.style.transform = `matrix(${view.scale},0,0,${view.scale},${view.x},${view.y})`
      const rendering = !smooth && view.scale >= 2 ? 'pixelated' : 'auto'
      if (element.style.imageRendering !== rendering) element.style.imageRendering = rendering
      if (picture && 'tiles' in picture) layTiles(picture, view, window, ratio)
    },
    set(settings) {
      smooth = settings.smooth
      const { brightness, contrast } = settings
      element.style.filter = brightness === 1 && contrast === 1 ? '' : `brightness(${brightness}) contrast(${contrast})`
    },
    close,
  }
}
