import { useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../api/client'
import './script-log.css'
import { ErrorState } from './States'
import { lastLines } from './lastLines'

type Log = Schema<'ScriptLog'>

/** The end of what a program that the platform ran said; it grows while one runs. */
export function ScriptLog({ path, title, none, growing }: { path: string; title: string; none: string; growing: boolean }) {
  const found = useQuery({
    queryKey: ['script-log', path, growing],
    queryFn: async ({ signal }) => {
      const head = await request<Log>(path, { query: { offset: 0 }, signal })
      const from = head.end - 100_000
      return from > 0 ? await request<Log>(path, { query: { offset: from }, signal }) : head
    },
    refetchInterval: growing ? 2000 : false,
  })
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const text = lastLines(found.data?.text ?? '', 300)
  return (
    <section>
      <h2>{title}</h2>
      {text === '' ? <p className="muted">{none}</p> : <pre className="script-log" tabIndex={0} aria-label={title}>{text}</pre>}
    </section>
  )
}
