import type { Schema } from '../../api/client'

export type Plan = Schema<'TrainingPlan'>
export type PlanClass = Plan['classes'][number]
export type Parameter = Schema<'AlgorithmFunctions'>['functions'][number]['parameters'][number]

/** What a person has chosen. */
export interface Choice {
  minutes: number
  leaveOut: string[]
  /** Old label to new label. */
  merge: Record<string, string>
  parameters: Record<string, unknown>
}

/** Minutes that the slider offers; others can be typed. */
export const presets = [1, 2, 5, 10, 20, 30, 60, 120, 240]

/** Parameters that have a place of their own in the drawer. */
const own = new Set(['minutes', 'leave_out', 'merge'])
export const tunable = (all: Parameter[]): Parameter[] => all.filter((p) => !own.has(p.name))

export function bodyOf(choice: Choice): Record<string, unknown> {
  return { minutes: choice.minutes, leave_out: choice.leaveOut, merge: choice.merge, parameters: choice.parameters }
}

/** A label that is left out is neither merged nor merged into. */
export function leave(choice: Choice, label: string, out: boolean): Choice {
  const leaveOut = choice.leaveOut.filter((one) => one !== label)
  if (!out) return { ...choice, leaveOut }
  const merge = Object.fromEntries(Object.entries(choice.merge).filter(([from, into]) => from !== label && into !== label))
  return { ...choice, leaveOut: [...leaveOut, label], merge }
}

export function merge(choice: Choice, label: string, into: string | null): Choice {
  const rest = Object.fromEntries(Object.entries(choice.merge).filter(([from]) => from !== label))
  return { ...choice, merge: into === null ? rest : { ...rest, [label]: into } }
}

/** What a label may be merged into: not what is left out or merged itself; and nothing while others are merged into it. */
export function targets(choice: Choice, classes: PlanClass[], label: string): string[] {
  if (Object.values(choice.merge).includes(label)) return []
  return classes.map((one) => one.label).filter((one) => one !== label && !choice.leaveOut.includes(one) && !(one in choice.merge))
}

/** Values that differ from their defaults. */
export function given(parameters: Parameter[], values: Record<string, unknown>): Record<string, unknown> {
  const usual = new Map(parameters.map((p) => [p.name, JSON.stringify(p.default)]))
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== undefined && value !== null && usual.get(name) !== JSON.stringify(value)))
}
