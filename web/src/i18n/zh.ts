import type { Key } from './en'
import { firstZh } from './first.zh'
import { restZh } from './rest.zh'

export const zh: Record<Key, string> = { ...firstZh, ...restZh }
