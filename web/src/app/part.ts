import { serverBack } from '../api/reach'

/** A part of the program, fetched when it is first needed: when the server is away, as soon as it is back. What is gone
 * after an upgrade fails, and CrashPage loads the page anew. */
export async function part<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch {
    await serverBack()
    return load()
  }
}
