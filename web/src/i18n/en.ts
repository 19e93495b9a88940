import { firstEn } from './first.en'
import { restEn } from './rest.en'

// All words, for types and tests: a page loads them in two parts.
export const en = { ...firstEn, ...restEn }

export type FirstKey = keyof typeof firstEn
export type Key = keyof typeof en
