// The first version of a dataset: made with it, and filled with the files that were chosen for it.
import { request } from '../../api/client'
import type { Item, Kind } from '../../api/kinds'
import { collectionPath, listPage } from '../../api/objects'
import { nameOf } from '../../components/names'
import type { Dropped } from './uploadModel'
import { begin } from './uploads'

// Chosen in the form of a dataset that is not there yet.
let chosen: readonly Dropped[] = []

export function choose(files: readonly Dropped[]): void {
  chosen = files
}

export function chosenFirst(): readonly Dropped[] {
  return chosen
}

const kinds = [
  { test: /\.(png|jpe?g|gif|webp|bmp|tiff?|heic|mp4|avi|mov|mkv|webm)$/i, data_type: 'image', annotation_type: 'detection' },
  { test: /\.(wav|flac|mp3|ogg|opus|m4a)$/i, data_type: 'audio', annotation_type: 'audio-class' },
  { test: /\.txt$/i, data_type: 'text', annotation_type: 'text-class' },
]

/** What files are, when they are all alike; archives and tables do not tell. */
export function typesOf(files: readonly { name: string }[]): { data_type: string; annotation_type: string } | null {
  const found = kinds.filter((kind) => files.some((file) => kind.test.test(file.name)))
  const [only] = found
  return found.length === 1 && only ? { data_type: only.data_type, annotation_type: only.annotation_type } : null
}

export interface Into {
  kind: Kind
  parentKind: Kind
  parent: Item
  project: number
  /** The page of a version by its number. */
  url: (number: number) => string
}

/** The newest version of what was just made: the server's own, or a new one. */
async function firstVersion({ kind, parentKind, parent }: Into): Promise<Item> {
  const place = { parent: { kind: parentKind, id: parent.id } }
  const there = (await listPage(kind, place, { sort: '-number', limit: 1 })).items[0]
  return there ?? request<Item>(collectionPath(kind, place), { method: 'POST', body: {} })
}

/** Makes the first version and begins to import the files into it, if there are any. */
export async function bringFirst(into: Into, files: readonly Dropped[]): Promise<Item> {
  const { kind, parentKind, parent } = into
  const version = await firstVersion(into)
  if (files.length > 0) {
    begin({ path: `/${parentKind.plural}/${parent.id}/versions/${version.id}`, url: into.url(Number(version['number'])), title: `${nameOf(parentKind, parent)} ${nameOf(kind, version)}`, project: into.project, options: {} }, [...files])
  }
  return version
}

/** The same for a dataset whose form has just been closed, with the files that were chosen in it. */
export async function bringChosen(into: Into): Promise<void> {
  const files = chosen
  choose([])
  await bringFirst(into, files)
}
