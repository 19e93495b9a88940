import { useQuery } from '@tanstack/react-query'
import { apiUrl, Problem, request, send, type Schema } from '../../api/client'
import { sessionAgain } from '../../api/lost'
import type { Version } from '../datasets/samples'
import { textOf } from './diff'

type Listing = Schema<'FolderListing'>
export type FileItem = Listing['items'][number]

/** Larger files are not shown as text. */
export const largestText = 1 << 20

export function join(folder: string, name: string): string {
  return folder ? `${folder}/${name}` : name
}

export function useFiles(version: Version, path: string) {
  return useQuery({
    queryKey: ['objects', version.kind.name, 'files', version.item.id, path],
    queryFn: async ({ signal }) => (await request<Listing>(`${version.path}/files`, { query: { path }, signal })).items,
  })
}

export function fileUrl(version: { path: string }, path: string, download = false): string {
  return apiUrl(`${version.path}/content`, { path, download: download || undefined })
}

/** The text of a file; null when it is none. */
export async function readText(path: string, file: string, signal?: AbortSignal): Promise<string | null> {
  const answer = await send(apiUrl(`${path}/content`, { path: file }), { signal })
  if (!answer.ok) throw new Problem(answer.status, (await answer.json().catch(() => ({}))) as ConstructorParameters<typeof Problem>[1])
  if (Number(answer.headers.get('Content-Length') ?? 0) > largestText) return null
  return textOf(await answer.arrayBuffer())
}

/** Sends one file; told of the bytes as they go. */
export async function putFile(version: { path: string }, path: string, file: File, onProgress: (sent: number) => void): Promise<void> {
  for (;;) {
    const problem = await putOnce(apiUrl(`${version.path}/content`, { path }), file, onProgress)
    if (!problem) return
    if (problem.status !== 401 || !(await sessionAgain())) throw problem
  }
}

function putOnce(url: string, file: File, onProgress: (sent: number) => void): Promise<Problem | null> {
  return new Promise((done) => {
    const sending = new XMLHttpRequest()
    sending.open('PUT', url)
    sending.upload.onprogress = (event) => onProgress(event.loaded)
    sending.onerror = () => done(new Problem(0, { code: 'network' }))
    sending.onload = () => {
      if (sending.status < 300) return done(null)
      let body = {}
      try {
        body = JSON.parse(sending.responseText) as object
      } catch {
        body = { code: 'unavailable' }
      }
      done(new Problem(sending.status, body))
    }
    sending.send(file)
  })
}
