import type { learnEn } from './learn.en'

// 一键训练的文字。
export const learnZh: Record<keyof typeof learnEn, string> = {
  'train.button': '训练',
  'train.title': '用 {name} 训练',
  'train.start': '开始训练',
  'train.minutes': '分钟数',
  'train.minutesHelp': '结果不再提升时，训练会提前结束。',
  'train.remarks': '提示',
  'trainLevel.error': '无法训练：',
  'trainLevel.warning': '警告：',
  'trainLevel.note': '说明：',
  'train.usable': '可用样本',
  'train.trained': '用于训练',
  'train.chosen': '用于验证',
  'train.tested': '用于测试',
  'train.negatives': '不含标签',
  'train.spec': '规格',
  'train.begins': '预计开始',
  'train.classes': '类别',
  'train.merge': '合并到',
  'train.mergeOf': '将 {label} 合并到',
  'train.tuned': '高级参数',
  'train.noJson': '不是有效的 JSON。',
}
