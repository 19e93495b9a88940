import { useQuery } from '@tanstack/react-query'
import { useApp } from '../../app/context'
import { request, type Schema } from '../../api/client'
import type { Page } from '../../api/kinds'
import { may } from '../../api/session'
import type { Key } from '../../i18n'

export type Demo = Schema<'Demo'>

const working = ['loading', 'training', 'removing']
export const isWorking = (demo: Demo) => working.includes(demo.state ?? '')

/** What of the demo project is there; null for people who could not load it. */
export function useDemo() {
  const { session } = useApp()
  return useQuery({
    queryKey: ['objects', 'demo', 'one'],
    queryFn: async ({ signal }) => ((await request<Page>('/demos', { query: { limit: 1 }, signal })).items[0] ?? null) as unknown as Demo | null,
    enabled: may(session, 'demo.load'),
    refetchInterval: ({ state }) => (state.data && isWorking(state.data) ? 2000 : false),
  })
}

/** Its steps, in their order: as scripts/demo/demo.py has them. */
export const dataSteps = ['packages', 'fruit', 'things', 'languages', 'instruments', 'labelling', 'classifier', 'model', 'evaluations', 'service'] as const
export const trainingSteps = ['training', 'evaluation'] as const

export const stepKey = (name: string): Key | null =>
  name === 'remove' ? 'demo.step.remove' : ([...dataSteps, ...trainingSteps].find((one) => one === name) ? `demo.step.${name as (typeof dataSteps)[number]}` : null)
