import type { Schema } from '../../api/client'
import type { Item } from '../../api/kinds'

// What the pages of labelling reckon with. Pure: no React, no network.
/** What a person has to do in a task. */
export type Work = Schema<'LabelWork'>
export type StageWork = Work['label']
export type TaskState = Work['state']
export type Stage = Schema<'Assignment'>['stage']

/** Samples of a task by how far they are; they add up to all of them. */
export const partNames = ['accepted', 'labelled', 'reviewing', 'rejected', 'skipped', 'waiting'] as const
export type PartName = (typeof partNames)[number]
export type Parts = Record<PartName, number>

/** The server counts all that was submitted as labelled; here each sample counts once. */
export function partsOf(task: Item): Parts {
  const n = (name: string) => Math.max(0, Number(task[name]) || 0)
  const [samples, labelled, reviewing, accepted, rejected, skipped] = [n('samples'), n('labelled'), n('reviewing'), n('accepted'), n('rejected'), n('skipped')]
  return {
    accepted, reviewing, rejected, skipped,
    labelled: Math.max(0, labelled - reviewing - accepted),
    waiting: Math.max(0, samples - labelled - rejected - skipped),
  }
}

/** Of 0 to 1: what needs nobody's hand any more, unless it is drawn for review. */
export function shareDone(task: Item): number {
  const samples = Number(task['samples']) || 0
  return samples > 0 ? Math.min(1, (Number(task['labelled']) || 0) / samples) : 0
}

/** The stage to go on with: what came back first, then what one has begun, then what is left. Null: nothing to do. */
export function stageOf(work: Work): Stage | null {
  if (work.state !== 'open') return null
  const { label, review } = work
  if (label.mine && (label.rejected > 0 || label.leased > 0)) return 'label'
  if (review.mine && review.leased > 0) return 'review'
  if (label.mine && label.left > 0) return 'label'
  return review.mine && review.left > 0 ? 'review' : null
}

export interface TaskWork {
  task: Item
  work: Work
}

/** The task one goes on with, and its stage: begun or sent back work before new, then by deadline, then as they were made. */
export function goOn(list: readonly TaskWork[]): { task: Item; stage: Stage } | null {
  const rank = ({ work }: TaskWork) => (work.label.mine && work.label.rejected > 0 ? 0 : (work.label.mine && work.label.leased > 0) || (work.review.mine && work.review.leased > 0) ? 1 : 2)
  const end = ({ work }: TaskWork) => (work.deadline ? Date.parse(work.deadline) : Infinity)
  const best = list.filter((one) => stageOf(one.work) !== null)
    .sort((a, b) => rank(a) - rank(b) || (end(a) === end(b) ? 0 : end(a) - end(b)) || a.task.id - b.task.id)[0]
  const stage = best && stageOf(best.work)
  return best && stage ? { task: best.task, stage } : null
}

/** Midnight of a day in the reader's own time, some days from it. */
export function dayOf(time: number, days = 0): Date {
  const day = new Date(time)
  day.setHours(0, 0, 0, 0)
  day.setDate(day.getDate() + days)
  return day
}

export interface Selection {
  states?: string[]
  labels?: string[]
  splits?: string[]
  q?: string
  share?: number
  order?: 'position' | 'name' | 'random'
}

/** Without what says nothing: all samples in their order are {}. */
export function tidySelection(selection: Selection): Selection {
  const kept = Object.entries(selection).filter(([name, value]) =>
    Array.isArray(value) ? value.length > 0 : name === 'share' ? typeof value === 'number' && value < 1 : name === 'order' ? value !== 'position' : value !== '' && value !== undefined)
  return Object.fromEntries(kept) as Selection
}

/** Percent of a person's samples that are reviewed; null where nothing is. */
export function ratioOf(task: Item, user: number): number | null {
  if (task['review_team'] === null || task['review_team'] === undefined) return null
  if (Number(task['seats']) > 1) return 100
  const own = (task['raised'] as Record<string, number> | null)?.[String(user)] ?? 0
  return Math.max(Number(task['review_ratio']), own)
}
