import { afterEach, expect, test, vi } from 'vitest'
import { request, send } from './client'
import { leaveSession, sessionAgain, signedInAgain, watchSession } from './lost'

const answers: Response[] = []
vi.stubGlobal('fetch', () => Promise.resolve(answers.shift()))

function refuse(): Response {
  return new Response('{"code":"unauthorized"}', { status: 401 })
}

let unwatch: (() => void) | null = null
afterEach(() => {
  unwatch?.()
  unwatch = null
  answers.length = 0
})

test('without anybody who asks to sign in, a request fails', async () => {
  answers.push(refuse())
  await expect(request('/users')).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
})

test('requests wait for the session and are sent again, whatever they are', async () => {
  unwatch = watchSession()
  answers.push(refuse(), refuse())
  const both = Promise.all([request('/users', { method: 'POST', body: {} }), send('/api/v1/x')])
  await vi.waitFor(() => expect(answers).toEqual([]))
  answers.push(new Response('{"id":7}', { status: 201 }), new Response('text'))
  signedInAgain()
  const [made, text] = await both
  expect(made).toEqual({ id: 7 })
  expect(await text.text()).toBe('text')
})

test('who handles 401 themselves is not kept waiting', async () => {
  unwatch = watchSession()
  answers.push(refuse())
  await expect(request('/sessions', { method: 'POST', quiet: true })).rejects.toMatchObject({ status: 401 })
})

test('what is not wanted any more does not wait', async () => {
  unwatch = watchSession()
  const stop = new AbortController()
  const waiting = sessionAgain(stop.signal)
  stop.abort()
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
  await expect(sessionAgain(stop.signal)).rejects.toMatchObject({ name: 'AbortError' })
})

test('when the pages go, what waits fails', async () => {
  const stop = watchSession()
  const waiting = sessionAgain()
  stop()
  expect(await waiting).toBe(false)
})

test('a page that is being left hears nothing more', async () => {
  unwatch = watchSession()
  leaveSession()
  const told = vi.fn()
  void sessionAgain().then(told)
  signedInAgain()
  await new Promise((done) => setTimeout(done))
  expect(told).not.toHaveBeenCalled()
})
