import { useQuery } from '@tanstack/react-query'
import { apiUrl, request, type Schema } from '../../api/client'

type Formats = Schema<'FormatList'>
export type Format = Formats['items'][number]

/** The formats that can be imported into, or exported from, a dataset of this annotation type. */
export function useFormats(annotationType: unknown, use: 'imports' | 'exports'): readonly Format[] {
  const all = useQuery({
    queryKey: ['formats'],
    queryFn: async () => (await request<Formats>('/formats')).items,
    staleTime: Infinity,
  })
  return (all.data ?? []).filter((f) => f[use].includes(String(annotationType)))
}

/** Where a small dataset in the format can be downloaded. */
export function exampleUrl(format: string, annotationType: unknown): string {
  return apiUrl(`/formats/${format}/example`, { type: String(annotationType) })
}
