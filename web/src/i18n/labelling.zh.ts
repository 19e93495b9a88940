import type { labellingEn } from './labelling.en'

// 标注相关的文案：文本与音频的行、团队、任务、进度，以及文本、音频、宫格的标注界面。
export const labellingZh: Record<keyof typeof labellingEn, string> = {
  'keys.play': '播放或暂停音频',

  'gallery.play': '播放（P）',
  'gallery.pause': '暂停（P）',

  'statistics.splits': '划分',
  'statistics.untrained': '{n} 个标签在训练集中没有样本：{labels}',
}
