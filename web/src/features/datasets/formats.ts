import type { Words } from '../../api/kinds'

// The server's table of codecs, as names to choose from and the annotation types that they hold.
export interface Format {
  name: string
  title: Words
  types: readonly string[] | 'all'
}

const same = (text: string): Words => ({ en: text, zh: text })
const classes = ['image-class', 'image-classes', 'text-class', 'audio-class']

export const formats: readonly Format[] = [
  { name: 'ingot', title: same('Ingot JSON'), types: 'all' },
  { name: 'coco', title: same('COCO'), types: ['detection', 'rotated', 'segmentation', 'keypoints', 'ocr'] },
  { name: 'voc', title: same('Pascal VOC'), types: ['detection', 'rotated'] },
  { name: 'labelme', title: same('LabelMe'), types: ['image-class', 'image-classes', 'detection', 'rotated', 'segmentation', 'ocr'] },
  { name: 'yolo', title: same('YOLO'), types: ['detection', 'rotated', 'segmentation', 'keypoints'] },
  { name: 'jsonl', title: { en: 'JSON lines', zh: 'JSON 行' }, types: ['text-class', 'text-spans', 'transcription'] },
  { name: 'csv', title: same('CSV'), types: [...classes, 'detection', 'transcription'] },
  { name: 'image-folder', title: { en: 'One folder per class', zh: '按文件夹分类' }, types: classes },
  { name: 'files', title: { en: 'Files without annotations', zh: '无标注文件' }, types: 'all' },
]

export function formatsFor(annotationType: unknown): readonly Format[] {
  return formats.filter((f) => f.types === 'all' || f.types.includes(String(annotationType)))
}
