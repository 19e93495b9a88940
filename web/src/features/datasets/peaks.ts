import { Problem, request, send } from '../../api/client'
import { contentUrl } from './samples'

// The wave form of a sound. The server has it where it can decode the sound; what only the browser can decode, it decodes itself.

/** A sound larger than this is not fetched as a whole only to draw it. */
export const mostDecoded = 20 * 1024 * 1024

interface Sound {
  id: number
  digest: string
  size: number
}

/** Below, above: -1 to 1, for each of so many equal parts of a sound. */
export async function soundPeaks(path: string, sample: Sound, buckets: number, signal?: AbortSignal): Promise<number[]> {
  try {
    return (await request<{ peaks: [low: number, high: number][] }>(`${path}/samples/${sample.id}/peaks`, { query: { buckets, v: sample.digest.slice(0, 12) }, signal })).peaks.flat()
  } catch (error) {
    const undecoded = error instanceof Problem && (error.status === 404 || error.status === 422)
    if (!undecoded || sample.size > mostDecoded) throw error
    const answer = await send(contentUrl(path, sample), { signal })
    if (!answer.ok) throw error
    const decoded = await new OfflineAudioContext(1, 1, 8000).decodeAudioData(await answer.arrayBuffer())
    return peaksOf(Array.from({ length: decoded.numberOfChannels }, (_, i) => decoded.getChannelData(i)), buckets)
  }
}

/** The lowest and the highest value of each part, over all channels. */
export function peaksOf(channels: readonly Float32Array[], buckets: number): number[] {
  const length = channels[0]?.length ?? 0
  const count = Math.min(buckets, length)
  const peaks: number[] = []
  for (let i = 0; i < count; i += 1) {
    let [low, high] = [1, -1]
    for (const channel of channels) {
      for (let k = Math.floor((i * length) / count); k < Math.floor(((i + 1) * length) / count); k += 1) {
        const value = channel[k] ?? 0
        if (value < low) low = value
        if (value > high) high = value
      }
    }
    peaks.push(Math.max(-1, Math.min(low, high)), Math.min(1, Math.max(low, high)))
  }
  return peaks
}
