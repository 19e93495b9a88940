// What of a batch is handed in, or decided on, from the sheet of many samples. Pure: no React, no network.
import type { Annotation } from '../../canvas'
import type { Assignment } from './work'

interface Asked {
  batch: readonly Assignment[]
  /** Samples that are selected on the sheet; one is where the cursor is. */
  picked: readonly number[]
  annotationOf: (of: Assignment) => Annotation
  /** Whether something was changed here on a sample. */
  touched: (sample: number) => boolean
}

export function isEmpty({ labels, shapes, text }: Annotation): boolean {
  return (labels?.length ?? 0) + (shapes?.length ?? 0) === 0 && text === undefined
}

const open = ({ batch }: Asked) => batch.filter((a) => a.state === 'leased')
const selected = (asked: Asked) => open(asked).filter((a) => asked.picked.includes(a.sample.id))

/** Of several that are selected those with something on them; otherwise what was labelled here. `bare`: selected, with nothing on them. */
export function toSubmit(asked: Asked): { ready: Assignment[]; bare: number } {
  const several = asked.picked.length > 1
  const meant = several ? selected(asked) : open(asked).filter((a) => asked.touched(a.sample.id))
  const ready = meant.filter((a) => !isEmpty(asked.annotationOf(a)))
  return { ready, bare: several ? meant.length - ready.length : 0 }
}

/** Of what is selected that on which there is nothing. */
export function toSubmitBare(asked: Asked): Assignment[] {
  return selected(asked).filter((a) => isEmpty(asked.annotationOf(a)))
}

/** What is selected and can be judged at a glance: not what several people made, of which something has to be taken first. */
export function toDecide(asked: Asked): { ready: Assignment[]; compared: number } {
  const meant = selected(asked)
  const ready = meant.filter((a) => !a.for_review?.layers?.some((l) => !l.late))
  return { ready, compared: meant.length - ready.length }
}

export interface Outcome {
  /** As they are now. */
  done: Assignment[]
  failed: number
  /** Why the first that failed did. */
  error: unknown
}

/** All of them, a few at a time; what fails holds up none of the others. */
export async function runMany(list: readonly Assignment[], run: (a: Assignment) => Promise<Assignment>): Promise<Outcome> {
  const queue = [...list]
  const outcome: Outcome = { done: [], failed: 0, error: null }
  const worker = async () => {
    for (let a = queue.shift(); a !== undefined; a = queue.shift()) {
      await run(a).then((now) => outcome.done.push(now), (error: unknown) => {
        outcome.failed += 1
        outcome.error ??= error
      })
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  return outcome
}
