// Pictures as bitmaps that we close ourselves: browsers keep what an <img> decoded for hundreds of pictures after it has gone.
// A bitmap is decoded in half the size, a quarter ... of the picture when no more is shown: it takes less memory, and is
// scaled down better than a canvas would be.

/** A picture's bytes, and the picture in one size. Whoever has it closes the bitmap. */
export interface PictureFile {
  readonly blob: Blob
  readonly bitmap: ImageBitmap
  /** 0: its own size; each further one half of it. */
  readonly level: number
}

export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** The level that has a pixel for each one of the screen (a few less do); `scale`: pixels of the screen per pixel of the picture. */
export function levelFor({ width, height }: PictureSize, scale: number): number {
  const smallest = Math.floor(Math.log2(Math.max(1, Math.min(width, height))))
  return Math.max(0, Math.min(smallest, Math.floor(Math.log2(1 / scale) + 0.05)))
}

/** Fails when it is no picture; a drawing with scripts (SVG) is none. */
export function decode(blob: Blob, { width, height }: PictureSize, level: number): Promise<ImageBitmap> {
  const upright = { imageOrientation: 'from-image' } as const
  if (level === 0) return createImageBitmap(blob, upright)
  return createImageBitmap(blob, { ...upright, resizeWidth: Math.max(1, width >> level), resizeHeight: Math.max(1, height >> level), resizeQuality: 'medium' })
}

/** `level` is asked when the bytes are there. */
export async function loadPicture(url: string, size: PictureSize, level: () => number, signal?: AbortSignal): Promise<PictureFile> {
  const answer = await fetch(url, { signal })
  if (!answer.ok) throw new Error(String(answer.status))
  const blob = await answer.blob()
  const now = level()
  return { blob, bitmap: await decode(blob, size, now), level: now }
}
