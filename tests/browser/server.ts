import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export const adminPassword = 'browser-test-admin'

/** The address that a program prints when it is ready: the first after the words, in a whole line. */
export function ready(program: ChildProcess, words = ''): Promise<string> {
  return new Promise((done, fail) => {
    let text = ''
    const take = (chunk: Buffer) => {
      text += chunk.toString()
      const url = new RegExp(`${words}(https?://[\\d.:]+).*\\n`).exec(text)?.[1]
      if (url) done(url)
    }
    program.stdout?.on('data', take)
    program.stderr?.on('data', (chunk: Buffer) => {
      process.stderr.write(chunk)
    })
    program.on('error', fail)
    program.on('exit', (code) => fail(new Error(`${program.spawnfile} ended with ${code}: ${text}`)))
  })
}

export interface Running {
  url: string
  stop: () => Promise<void>
}

/** The program on a folder, ready to answer. */
async function start(data: string, listen: string, args: string[], environment: Record<string, string>) {
  const build = process.env['INGOT_BUILD'] ?? resolve(__dirname, '../../build/san')
  const server = spawn(join(build, 'ingot'), ['serve', '--data', data, '--listen', listen, ...args], {
    env: { ...process.env, INGOT_ADMIN_PASSWORD: adminPassword, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((done) => server.on('exit', done))
  const end = async (signal: NodeJS.Signals) => {
    if (server.exitCode === null) server.kill(signal)
    const code = await ended
    // The sanitizers' findings end the program with a code of their own.
    if (code !== (signal === 'SIGKILL' ? null : 0)) throw new Error(`the server ended with ${String(code)}`)
  }
  return { url: await ready(server, 'ready at '), end }
}

/** A server on a free port and a folder of its own. */
export async function serve(args: string[] = [], environment: Record<string, string> = {}): Promise<Running> {
  const data = mkdtempSync(join(tmpdir(), 'ingot-browser-'))
  const remove = () => rmSync(data, { recursive: true, force: true })
  try {
    const server = await start(data, '127.0.0.1:0', args, environment)
    return { url: server.url, stop: () => server.end('SIGTERM').finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}

/** One that is killed and comes back at the same address. */
export async function mortal(): Promise<Running & { kill: () => Promise<void>; again: () => Promise<void> }> {
  const data = mkdtempSync(join(tmpdir(), 'ingot-browser-'))
  let server = await start(data, '127.0.0.1:0', [], {})
  const { url } = server
  return {
    url,
    kill: () => server.end('SIGKILL'),
    again: async () => {
      server = await start(data, new URL(url).host, [], {})
    },
    stop: () => server.end('SIGTERM').finally(() => rmSync(data, { recursive: true, force: true })),
  }
}

/** One server per run. */
export default async function begin(): Promise<() => Promise<void>> {
  const tools = process.env['INGOT_TOOLS'] ?? resolve(__dirname, '../../.cache/tools')
  const server = await serve(['--tools', tools])
  process.env['INGOT_URL'] = server.url
  return server.stop
}
