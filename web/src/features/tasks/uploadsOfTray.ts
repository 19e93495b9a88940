import { useBatches } from '../datasets/uploads'
import { sumOf } from '../datasets/uploadModel'

/** Uploads of a project that are not yet tasks. */
export function useUploads(project: number) {
  return useBatches().filter((b) => b.project === project && b.state !== 'started').map((b) => {
    const sum = sumOf(b.entries)
    return { id: b.id, title: b.title, url: b.url, share: sum.total > 0 ? sum.sent / sum.total : null }
  })
}
