// Pictures of the neighbours, asked for and decoded before they are wanted, in the size that they will be shown in. A few are
// kept, the last ones asked for: the browser's own cache has the bytes of the rest.
import { levelFor, loadPicture, type PictureFile } from '../../canvas'

const most = 4

interface Kept {
  readonly coming: Promise<PictureFile>
  readonly stop: AbortController
  file: PictureFile | null
}

const pictures = new Map<string, Kept>()

/** How a picture is shown at first: whole. */
function firstLevel(size: { width: number; height: number }): number {
  const host = document.querySelector('.bench-canvas')
  if (!host || host.clientWidth === 0) return 0
  return levelFor(size, Math.min(host.clientWidth / size.width, host.clientHeight / size.height) * devicePixelRatio)
}

function drop(url: string, kept: Kept): void {
  pictures.delete(url)
  kept.stop.abort()
  kept.coming.then((file) => file.bitmap.close(), () => undefined)
}

export function preloadPicture(url: string, size: { width: number; height: number }): void {
  const there = pictures.get(url)
  if (there) {
    pictures.delete(url)
    pictures.set(url, there)
    return
  }
  const stop = new AbortController()
  const kept: Kept = { coming: loadPicture(url, size, () => firstLevel(size), stop.signal), stop, file: null }
  pictures.set(url, kept)
  kept.coming.then((file) => {
    kept.file = file
  }, () => void (pictures.get(url) === kept && pictures.delete(url)))
  for (const [old, one] of pictures) if (pictures.size > most) drop(old, one)
}

/** One that is ready to be drawn, or on its way; it is given away. */
export function takePicture(url: string): PictureFile | Promise<PictureFile> | null {
  const kept = pictures.get(url)
  pictures.delete(url)
  return kept ? (kept.file ?? kept.coming) : null
}
