import { useCallback, useState } from 'react'
import { request, type Schema } from '../../api/client'

export type Trial = Schema<'ModelTrial'>

const pause = 700

/** The container in which a version is tried: started by the first question, told about while it starts. */
export function useTrial(path: string, project: number | undefined): { trial: Trial | null; ready: (signal?: AbortSignal) => Promise<void> } {
  const [trial, setTrial] = useState<Trial | null>(null)
  const ready = useCallback(async (signal?: AbortSignal) => {
    let now = await request<Trial>(`${path}/try`, { method: 'POST', body: { project }, signal })
    while (now.state === 'waiting' || now.state === 'starting') {
      setTrial(now)
      await new Promise((done) => setTimeout(done, pause))
      now = await request<Trial>(`${path}/trial`, { query: { project }, signal })
    }
    setTrial(now)
  }, [path, project])
  return { trial, ready }
}
