import parts from 'antd/es/locale/zh_CN'
import type { Pack } from '.'
import { sentence } from './sentences'
import { zh } from './zh'

export const pack: Pack = { texts: zh, parts, sentence: (text, own) => sentence(text, 'zh', own) }
