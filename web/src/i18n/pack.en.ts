import parts from 'antd/es/locale/en_GB'
import type { Pack } from '.'
import { firstEn } from './first.en'

export const pack: Pack = {
  texts: firstEn,
  parts,
  rest: async () => ({ texts: (await import('./rest.en')).restEn, sentence: (text) => text }),
}
