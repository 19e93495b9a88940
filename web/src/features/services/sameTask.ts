import { useQuery } from '@tanstack/react-query'
import { useApp } from '../../app/context'
import { request, type Schema } from '../../api/client'

/** The services of the project whose production does what this model version does; those of the same model first. */
export function useSameTask(version: number | undefined, enabled: boolean): Schema<'FittingServices'>['items'] {
  const { project } = useApp()
  const found = useQuery({
    queryKey: ['objects', 'service', 'fitting', project?.id ?? 0, version ?? 0],
    queryFn: ({ signal }) => request<Schema<'FittingServices'>>('/services/fitting', { query: { project: project?.id, model_version: version }, signal }),
    enabled: enabled && version !== undefined && project !== null,
  })
  return found.data?.items ?? []
}
