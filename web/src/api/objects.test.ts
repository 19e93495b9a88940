import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'
import { Problem } from './client'
import { invalidate, lasting, refreshAnswered } from './objects'

/** A query on the screen whose answers are given by hand. */
function shown(client: QueryClient, key: readonly unknown[]) {
  const answers: ((value: string) => void)[] = []
  const observer = new QueryObserver<string>(client, { queryKey: key, queryFn: () => new Promise((done) => answers.push(done)) })
  const leave = observer.subscribe(() => undefined)
  return { answers, leave, now: () => observer.getCurrentResult().data }
}

test('a change while the first answer is under way asks once more', async () => {
  const client = new QueryClient()
  const list = shown(client, ['objects', 'thing', 'list'])
  await vi.waitFor(() => expect(list.answers).toHaveLength(1))
  const fresh = invalidate(client, 'thing')
  list.answers[0]?.('before the change')
  await vi.waitFor(() => expect(list.answers).toHaveLength(2))
  list.answers[1]?.('after it')
  await fresh
  expect(list.now()).toBe('after it')
  list.leave()
})

test('once changes are told of, what was answered before is asked for again, what is under way is not', async () => {
  const client = new QueryClient()
  const answered = shown(client, ['objects', 'thing', 'item', 1])
  const waiting = shown(client, ['objects', 'thing', 'item', 2])
  await vi.waitFor(() => expect(waiting.answers).toHaveLength(1))
  answered.answers[0]?.('old')
  await vi.waitFor(() => expect(answered.now()).toBe('old'))
  refreshAnswered(client)
  await vi.waitFor(() => expect(answered.answers).toHaveLength(2))
  waiting.answers[0]?.('new')
  answered.answers[1]?.('new')
  await vi.waitFor(() => expect([answered.now(), waiting.now()]).toEqual(['new', 'new']))
  expect(waiting.answers).toHaveLength(1)
  answered.leave()
  waiting.leave()
})

test('a refresh that fails takes no page away; what is gone does', () => {
  const failed = new Problem(500, {})
  const gone = new Problem(404, {})
  expect(lasting({ error: failed, data: undefined })).toBe(failed)
  expect(lasting({ error: failed, data: {} })).toBe(null)
  expect(lasting({ error: gone, data: {} })).toBe(gone)
  expect(lasting({ error: null, data: undefined })).toBe(null)
})
