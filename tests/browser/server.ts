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

/** A server on a free port and a folder of its own. */
export async function serve(args: string[] = [], environment: Record<string, string> = {}): Promise<Running> {
  const build = process.env['INGOT_BUILD'] ?? resolve(__dirname, '../../build/san')
  const data = mkdtempSync(join(tmpdir(), 'ingot-browser-'))
  const server = spawn(join(build, 'ingot'), ['serve', '--data', data, '--listen', '127.0.0.1:0', ...args], {
    env: { ...process.env, INGOT_ADMIN_PASSWORD: adminPassword, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((done) => server.on('exit', done))
  const stop = async () => {
    if (server.exitCode === null) server.kill('SIGTERM')
    const code = await ended
    rmSync(data, { recursive: true, force: true })
    // The sanitizers' findings end the program with a code of their own.
    if (code !== 0) throw new Error(`the server ended with ${String(code)}`)
  }
  try {
    return { url: await ready(server, 'ready at '), stop }
  } catch (error) {
    rmSync(data, { recursive: true, force: true })
    throw error
  }
}

/** One server per run. */
export default async function start(): Promise<() => Promise<void>> {
  const tools = process.env['INGOT_TOOLS'] ?? resolve(__dirname, '../../.cache/tools')
  const server = await serve(['--tools', tools])
  process.env['INGOT_URL'] = server.url
  return server.stop
}
