import { useQueries, useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
import type { Version } from '../datasets/samples'
import { join, type FileItem } from '../files/files'

export type Graph = Schema<'ModelSummary'>['summary']

/** What goes in and out of each of these ONNX files; undefined while it is not known. */
export function useGraphs(version: Version, files: readonly string[]): (Graph | undefined)[] {
  return useQueries({
    queries: files.map((path) => ({
      queryKey: ['objects', version.kind.name, 'graph', version.item.id, version.item.revision, path],
      queryFn: async ({ signal }: { signal: AbortSignal }) => (await request<Schema<'ModelSummary'>>(`${version.path}/summary`, { query: { path }, signal })).summary,
      enabled: path !== '',
      retry: false,
    })),
  }).map((one) => one.data)
}

const most = 500

/** Paths of the version's files, folder by folder; so many at most. */
async function allFiles(version: Version, signal: AbortSignal): Promise<string[]> {
  const found: string[] = []
  const folders = ['']
  for (let folder = folders.shift(); folder !== undefined && found.length < most; folder = folders.shift()) {
    const { items } = await request<{ items: FileItem[] }>(`${version.path}/files`, { query: { path: folder }, signal })
    for (const item of items) (item.folder ? folders : found).push(join(folder, item.name))
  }
  return found.sort()
}

export function useAllFiles(version: Version): string[] {
  const found = useQuery({ queryKey: ['objects', version.kind.name, 'all-files', version.item.id, version.item.revision], queryFn: ({ signal }) => allFiles(version, signal) })
  return found.data ?? []
}
