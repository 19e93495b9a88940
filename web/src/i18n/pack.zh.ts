import parts from 'antd/es/locale/zh_CN'
import type { Pack } from '.'
import { firstZh } from './first.zh'

export const pack: Pack = {
  texts: firstZh,
  parts,
  rest: async () => {
    const [{ restZh }, { sentence }] = await Promise.all([import('./rest.zh'), import('./sentences')])
    return { texts: restZh, sentence: (text, own) => sentence(text, 'zh', own) }
  },
}
