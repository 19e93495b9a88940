import { databaseName, openJournal } from './journal'

/** How many changes of a user are in this browser and not yet on the server. */
export async function unsent(user: number): Promise<number> {
  // A browser that never opened a workbench has no journal, and gets none by asking.
  const known = await globalThis.indexedDB?.databases?.()
  if (known && !known.some((d) => d.name === databaseName)) return 0
  const journal = openJournal()
  try {
    return await journal.count(user)
  } finally {
    journal.close()
  }
}
