import type { Language } from '../app/prefs'

// Sentences that are new have both languages in the server's own catalogue (src/base/messages.h): nothing is added here, and what is
// moved there goes from here. What the server says in English alone about its long work and its built-in roles, in Chinese: why a task failed, lines of reports. `*` stands
// for what differs; in the Chinese one it is the same texts in the same order, and one that ends a sentence after a colon is
// looked up itself. The first that fits is taken; what is not here stays English.
const sentences: readonly (readonly [en: string, zh: string])[] = [
  ['Everything in a project, its members and the project itself', '项目中的一切，包括成员和项目本身'],
  ['Work with everything in a project', '使用项目中的所有内容'],
  ['Look at everything in a project', '查看项目中的所有内容'],
  ['Label what one was given', '标注分配给自己的内容'],
  ['Check what annotators made', '审核标注结果'],

  ['skipped: *', '已跳过：*'],
  ['repaired: *', '已修复：*'],
  ['*; the rest of the file is left out', '*；文件其余部分未读取'],
  ['Truncated ZIP file data', 'ZIP 数据被截断'],
  ['Truncated input file (needed * bytes, only * available)', '文件被截断（需要 * 字节，仅有 * 字节）'],
  ['Unrecognized archive format', '无法识别的压缩格式'],
  ['the bytes are no picture of a known format', '不是已知格式的图片'],
  ['its image_id is not among the images', '其 image_id 不在图片列表中'],
  ['it was clipped at the edge of the picture of * x * pixels', '已按图片边缘裁剪（* x * 像素）'],
  ['"*" has annotations already; these are left out', '“*”已有标注，这些标注未导入'],
  ['it is not read', '未读取'],
  ['not a sample, and not read as annotations', '既不是样本，也不是标注'],
  ['it names no file', '没有文件名'],
  ['it is not an object', '不是对象'],
  ['it is not a list', '不是列表'],
  ['it is not a line of numbers', '不是一行数字'],
  ['it is longer than * bytes', '超过 * 字节'],
  ['it is larger than * bytes', '超过 * 字节'],
  ['it is too large or nested too deeply', '过大或嵌套过深'],
  ['it is nested deeper than * levels', '嵌套超过 * 层'],
  ['masks of VOC are not read', '未读取 VOC 的掩码图片'],
  ['this member of * objects is not read', '该成员的 * 个对象未读取'],
  ['this member of * annotations is not read', '该成员的 * 个标注未读取'],
  ['there is no name for class *', '类别 * 没有名称'],
  ['there is no data.yaml, classes.txt or obj.names: numbers are taken as class names', '没有 data.yaml、classes.txt 或 obj.names，以编号作为类别名'],
  ['the sample has more than * shapes', '样本的图形超过 * 个'],
  ['the sample has a label already, and this type takes *', '样本已有标签，而该类型只接受 *'],
  ["the picture's size is not known; written as 0", '图片尺寸未知，写为 0'],
  ["the picture's size is not known; written as 0 x 0", '图片尺寸未知，写为 0 x 0'],
  ["the picture's size is not known, and numbers are shares of it", '图片尺寸未知，无法换算比例'],
  ['the label is there twice', '标签重复'],
  ['the label is empty, not UTF-8 or longer than * characters', '标签为空、不是 UTF-8 或超过 * 个字符'],
  ['the file has a text already', '文件已有文本'],
  ['segments are not written, only the text', '只写出文本，不写出分段'],
  ['it has holes and became a mask', '带孔，已转为掩码'],
  ['its holes were left out', '孔未写出'],
  ['only the first of its labels names its folder', '仅以第一个标签作为文件夹名'],
  ['its text is not UTF-8 or too long', '文本不是 UTF-8 或过长'],
  ['its size is not known: *', '尺寸未知：*'],
  ['its name is no name of a file', '名称不是有效的文件名'],
  ['its mask is empty, or has too long an outline', '掩码为空或轮廓过长'],
  ['its mask is empty', '掩码为空'],
  ['its label is missing, or label or text is too long', '缺少标签，或标签、文本过长'],
  ['its id is that of images[*]; left out', '编号与 images[*] 重复，未导入'],
  ['its element is not <annotation>', '根元素不是 <annotation>'],
  ['its class is not a whole number', '类别不是整数'],
  ['its box is not four numbers', '矩形框不是四个数字'],
  ['it needs a start and a later end', '需要起点和更晚的终点'],
  ['it lies in no folder that names a class; taken without a label', '不在以类别命名的文件夹中，导入时不带标签'],
  ['it is no LabelMe file: it has no list of shapes', '不是 LabelMe 文件，没有图形列表'],
  ['it has no text, or one that is not UTF-8', '没有文本，或文本不是 UTF-8'],
  ['it has no text', '没有文本'],
  ['it has no label, so no folder', '没有标签，无法归入文件夹'],
  ['it has no image_id', '没有 image_id'],
  ['it has no bndbox of four numbers', '没有四个数字的 bndbox'],
  ["it does not lie within the text's * characters", '超出文本的 * 个字符'],
  ['an image needs an id and a file_name', '图片需要 id 和 file_name'],
  ['a quote does not end, or something follows it', '引号没有结束，或其后还有内容'],
  ['a label is not a text', '标签不是文本'],
  ['a category needs an id and a name of at most * characters', '类别需要 id 和不超过 * 个字符的名称'],
  ['a COCO file is an object with images, annotations and categories', 'COCO 文件应为包含 images、annotations 和 categories 的对象'],
  ['* takes no shapes', '* 不接受图形'],
  ['* takes no labels of whole samples', '* 不接受整体标签'],
  ['* captions beyond * bytes are left out', '* 条说明超过 * 字节，未导入'],
  ['a coordinate is beyond * or not a number', '坐标超出 * 或不是数字'],
  ['a mask needs two points, its corners', '掩码需要两个角点'],
  ['a picture of * x * pixels is too large', '* x * 像素的图片过大'],
  ['a polygon needs at least three points', '多边形至少需要三个点'],
  ['attributes *; left out', 'attributes *；未导入'],
  ['bbox is not a list of four numbers', 'bbox 不是四个数字的列表'],
  ['it ends in the middle of a list', '在列表中间结束'],
  ['it ends in the middle', '中途结束'],
  ['it has neither "file" nor "content"', '既没有 file 也没有 content'],
  ['it has neither bbox nor segmentation', '既没有 bbox 也没有 segmentation'],
  ['it has no category_id', '没有 category_id'],
  ['it has no keypoints', '没有关键点'],
  ['it has no label', '没有标签'],
  ['it has no outline; its box was taken as a polygon', '没有轮廓，以矩形框作为多边形'],
  ['it has points only, and segmentation takes polygons and masks', '只有点，而分割需要多边形或掩码'],
  ['it is neither a box (5 numbers) nor a polygon (class and pairs)', '既不是矩形框（5 个数字）也不是多边形（类别和坐标对）'],
  ['it is no PNG picture', '不是 PNG 图片'],
  ['it is not UTF-8', '不是 UTF-8'],
  ['it is not UTF-8; read as UTF-16', '不是 UTF-8，已按 UTF-16 读取'],
  ['it is not UTF-8; read as GBK', '不是 UTF-8，已按 GBK 读取'],
  ['it is not: class, box, points', '格式应为：类别、矩形框、点'],
  ['it lies outside the picture of * x * pixels', '位于 * x * 像素的图片之外'],
  ['its box has no width or no height', '矩形框没有宽度或高度'],
  ['its caption is not a text of 1 to * bytes', '说明不是 1 到 * 字节的文本'],
  ['its category_id is not among the categories', '其 category_id 不在类别列表中'],
  ['its corners do not fit its mask; the mask was laid at the first corner', '角点与掩码不符，掩码以第一个角点为准'],
  ['its flags *; left out', '其 flags *；未导入'],
  ["its label has a '|', which parts labels here", "标签含有用于分隔标签的“|”"],
  ['its label is not UTF-8 or longer than * characters', '标签不是 UTF-8 或超过 * 个字符'],
  ['its mask became a polygon*', '掩码转换为多边形*'],
  ['its mask has no pixels inside the picture', '掩码在图片内没有像素'],
  ['its mask is * x * pixels, the picture * x *', '掩码为 * x * 像素，图片为 * x *'],
  ['its mask is not base64', '掩码不是 base64'],
  ['its mask was clipped at the edge of the picture', '掩码已按图片边缘裁剪'],
  ['its points are not pairs of numbers', '点不是成对的数字'],
  ['its rings became objects of their own', '各个环成为独立的对象'],
  ['its run lengths are damaged', '游程编码已损坏'],
  ['its runs do not add up to the pixels of its size', '游程总和与尺寸不符'],
  ['its score is not between 0 and 1 and was left out', '置信度不在 0 到 1 之间，未导入'],
  ['its PNG is damaged: *', '其 PNG 已损坏：*'],
  ['its PNG *', '其 PNG 无法读取（*）'],
  ['its captions are more than * bytes together with those of another file', '其说明与另一文件的说明合计超过 * 字节'],
  ['its picture has too many pixels for a mask', '图片像素过多，无法用作掩码'],
  ["its picture's size is not known, and a mask needs it", '图片尺寸未知，而掩码需要尺寸'],
  ['keypoints has a visibility that is not 0, 1 or 2', 'keypoints 的可见性不是 0、1 或 2'],
  ['keypoints is not a list of x, y, visibility', 'keypoints 不是 x、y、可见性的列表'],
  ['not valid JSON at byte *: *', '第 * 字节处不是有效的 JSON：*'],
  ['not valid XML at line *: *', '第 * 行不是有效的 XML：*'],
  ['segmentation has a ring that is not an even list of at least 6 numbers', 'segmentation 中有的环不是至少 6 个数字的偶数列表'],
  ['segmentation has something that is not a number, or too many points', 'segmentation 中有非数字内容或点过多'],
  ['segmentation is neither a list of rings nor run lengths', 'segmentation 既不是环的列表也不是游程编码'],
  ['the rotated box was replaced by the upright box round it', '旋转框已替换为其外接矩形'],
  ['the size of the picture * is not known, which YOLO needs', '图片 * 的尺寸未知，而 YOLO 需要尺寸'],
]

const patterns = sentences.map(([en, zh]) => ({
  parts: new RegExp(`^${en.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\/]/g, '\\$&')).join('([^]*?)')}$`),
  zh,
}))

/** A sentence of the server in the reader's language; zh when the server has it in Chinese itself. */
export function sentence(text: string, language: Language, zh?: string | null): string {
  if (language !== 'zh') return text
  // What other programs said (a decoder, libarchive) is English behind the last colon.
  if (zh) return zh.replace(/：([^：]*)$/, (_, rest: string) => `：${sentence(rest, language)}`)
  for (const { parts, zh } of patterns) {
    const found = parts.exec(text)
    if (!found) continue
    let i = 0
    return zh.replace(/(：?)\*/g, (_, colon: string) => {
      i += 1
      const part = found[i] ?? ''
      return colon + (colon ? sentence(part, language) : part)
    })
  }
  return text
}

/** For the tests: the table is consistent. */
export const allSentences = sentences
