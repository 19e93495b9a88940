import type { Action, Item, Kind } from '../../api/kinds'

const live = ['pending', 'queued', 'starting', 'running']
const over = ['stopped', 'failed', 'completed']

/** Which states an action is for; those not named here are always offered. */
const states: Record<string, readonly string[]> = {
  'task.cancel': ['waiting', 'running'],
  'job.stop': live,
  'environment.start': ['stopped', 'failed'],
  'environment.stop': live,
  'environment.extend': live,
  'environment.save': ['running'],
  'training_instance.stop': live,
  'training_instance.resume': over,
  'runtime.build': ['missing', 'ready', 'failed'],
  'runtime.estimate': ['missing', 'failed'],
  'runtime.export': ['ready'],
  'runtime.clear': ['ready', 'failed'],
  'tool.fetch': ['missing', 'failed'],
  'node.drain': ['ready'],
  'node.undrain': ['drained'],
}

/** Whether an action makes sense for the object as it is; the server decides in the end. */
export function fits(kind: Kind, action: Action, item: Item): boolean {
  const wanted = states[`${kind.name}.${action.name}`]
  return !wanted || wanted.includes(String(item['state']))
}
