import type { labellingEn } from './labelling.en'

// 标注相关的文案：文本与音频的行、团队、任务、进度，以及文本、音频、宫格的标注界面。
export const labellingZh: Record<keyof typeof labellingEn, string> = {
  'keys.play': '播放或暂停音频',

  'gallery.play': '播放（P）',
  'gallery.pause': '暂停（P）',

  'statistics.splits': '划分',
  'statistics.untrained': '{n} 个标签在训练集中没有样本：{labels}',

  'surface.unlabelled': '尚无标签',
  'surface.retired': '已停用',

  'textSurface.find': '在文本中查找',
  'textSurface.none': '未找到',
  'textSurface.found': '第 {i} 处，共 {n} 处',
  'textSurface.previous': '上一处（Shift+Enter）',
  'textSurface.next': '下一处（Enter）',
  'textSurface.cut': '仅显示此文本的前 {size}。',
  'textSurface.empty': '此文本为空。',

  'soundSurface.play': '播放',
  'soundSurface.pause': '暂停',
  'soundSurface.back': '− {n} 秒',
  'soundSurface.forward': '+ {n} 秒',
  'soundSurface.speed': '速度',
  'soundSurface.loop': '循环',
  'soundSurface.failed': '浏览器无法播放此音频。',
  'soundSurface.hint': '空格键播放或暂停，按标签的快捷键即可标注。',

  'gridSurface.title': '批量标注',
  'gridSurface.page': '第 {i} 页，共 {n} 页',
  'gridSurface.previous': '上一页（Page Up）',
  'gridSurface.next': '下一页（Page Down）',
  'gridSurface.hint': '方向键移动，Shift 选择多个，按标签的快捷键标注所选，Enter 打开单个。',
  'gridSurface.readOnly': '仅供查看。',
}
