import { apiUrl, readProblem, send } from '../../api/client'

const types: Record<string, string | undefined> = { jpg: 'image/jpeg', jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp', wav: 'audio/wav', flac: 'audio/flac', mp3: 'audio/mpeg', ogg: 'audio/ogg', txt: 'text/plain' }

/** The file of a model version that its manifest names to try it with. */
export async function sampleOf(version: string, path: string): Promise<Blob> {
  const answer = await send(apiUrl(`${version}/content`, { path }))
  if (!answer.ok) throw await readProblem(answer)
  return new Blob([await answer.arrayBuffer()], { type: types[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream' })
}
