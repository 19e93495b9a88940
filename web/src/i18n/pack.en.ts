import parts from 'antd/es/locale/en_GB'
import type { Pack } from '.'
import { en } from './en'

export const pack: Pack = { texts: en, parts, sentence: (text) => text }
