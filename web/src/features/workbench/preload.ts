// Pictures of the neighbours, asked for and decoded before they are wanted. A few are kept: the browser's own cache has the rest.
const most = 6
const pictures = new Map<string, HTMLImageElement>()

export function preloadPicture(url: string): void {
  if (pictures.has(url)) return
  const picture = new Image()
  picture.decoding = 'async'
  picture.src = url
  picture.decode().catch(() => pictures.delete(url))
  pictures.set(url, picture)
  for (const [old] of pictures) if (pictures.size > most) pictures.delete(old)
}

/** One that is ready to be drawn; it is given away. */
export function takePicture(url: string): HTMLImageElement | null {
  const picture = pictures.get(url)
  if (!picture?.complete || picture.naturalWidth === 0) return null
  pictures.delete(url)
  return picture
}
