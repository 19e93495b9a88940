import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export const adminPassword = 'browser-test-admin'

function ready(server: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    let text = ''
    const take = (chunk: Buffer) => {
      text += chunk.toString()
      const url = /https?:\/\/[\d.:]+/.exec(text)?.[0]
      if (url && text.includes('\n')) done(url)
    }
    server.stdout?.on('data', take)
    server.stderr?.on('data', (chunk: Buffer) => {
      process.stderr.write(chunk)
    })
    server.on('exit', (code) => fail(new Error(`the server ended with ${code}: ${text}`)))
  })
}

/** One server per run, on a free port and a folder of its own. */
export default async function start(): Promise<() => Promise<void>> {
  const build = process.env['INGOT_BUILD'] ?? resolve(__dirname, '../../build/san')
  const data = mkdtempSync(join(tmpdir(), 'ingot-browser-'))
  const server = spawn(join(build, 'ingot'), ['serve', '--data', data, '--listen', '127.0.0.1:0'], {
    env: { ...process.env, INGOT_ADMIN_PASSWORD: adminPassword },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  try {
    process.env['INGOT_URL'] = await ready(server)
  } catch (error) {
    rmSync(data, { recursive: true, force: true })
    throw error
  }
  return async () => {
    const ended = new Promise((done) => server.on('exit', done))
    if (server.exitCode === null) server.kill('SIGTERM')
    const code = server.exitCode ?? (await ended)
    rmSync(data, { recursive: true, force: true })
    // The sanitizers' findings end the program with a code of their own.
    if (code !== 0) throw new Error(`the server ended with ${String(code)}`)
  }
}
