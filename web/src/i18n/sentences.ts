import type { Language } from '../app/prefs'

// What the server says in English about its long work and its built-in roles, in Chinese: names of tasks, why one failed, lines of reports. `*` stands
// for what differs; in the Chinese one it is the same texts in the same order, and one that ends a sentence after a colon is
// looked up itself. The first that fits is taken; what is not here stays English.
const sentences: readonly (readonly [en: string, zh: string])[] = [
  ['Import * files', '导入 * 个文件'],
  ['Import database *', '导入数据库 *'],
  ['Import *', '导入 *'],
  ['Export as *', '导出为 *'],
  ['Generate training data', '生成训练数据'],
  ['Preprocess', '预处理'],
  ['Measure sharpness and likeness', '计算清晰度与相似度'],
  ['Write record files', '生成记录文件'],
  ['Copy samples to *', '复制样本到 *'],
  ['Copy the checkpoint for *', '为 * 复制检查点'],
  ['Save what * left', '保存 * 的产出'],
  ['Save *', '保存 *'],
  ['Build *', '构建 *'],
  ['Derive *', '派生 *'],
  ['Pull *', '拉取 *'],

  ['Everything in a project, its members and the project itself', '项目中的一切，包括成员和项目本身'],
  ['Work with everything in a project', '使用项目中的所有内容'],
  ['Look at everything in a project', '查看项目中的所有内容'],
  ['Label what one was given', '标注分配给自己的内容'],
  ['Check what annotators made', '审核标注结果'],

  ['skipped: *', '已跳过：*'],
  ['repaired: *', '已修复：*'],
  ['left out: *', '未导入：*'],
  ['left as it is: *', '保持不变：*'],
  ['cannot be measured: *', '无法计算：*'],
  ['the annotation was left out: *', '标注未导入：*'],
  ['what was put could not be taken back: *', '已写入的内容无法撤回：*'],
  ['*; the rest of the file is left out', '*；文件其余部分未读取'],
  ['the archive cannot be read: *', '压缩包无法读取：*'],
  ['the archive is damaged here: *', '压缩包在此处损坏：*'],
  ['the archive ends early or is damaged: *', '压缩包不完整或已损坏：*'],
  ['the archive has two files of this name; the last one counts', '压缩包中有两个同名文件，以后者为准'],
  ['the archive of * bytes unpacks to more than *: it is refused', '* 字节的压缩包解压后超过 * 字节，已拒绝'],
  ['Truncated ZIP file data', 'ZIP 数据被截断'],
  ['Truncated input file (needed * bytes, only * available)', '文件被截断（需要 * 字节，仅有 * 字节）'],
  ['Unrecognized archive format', '无法识别的压缩格式'],
  ['more than * files', '文件超过 * 个'],
  ['the project may store * bytes, and one file has more', '项目最多可存储 * 字节，而单个文件已超出'],
  ['the project may store * bytes, uses *, and the import *', '项目最多可存储 * 字节，已用 * 字节，而导入 *'],
  ['the version is published and never changes', '版本已发布，不能再修改'],
  ['the version was deleted meanwhile', '版本已被删除'],
  ['the task was cancelled', '任务已取消'],
  ['the registry wants a name and a password for *', '该镜像仓库需要用户名和密码：*'],
  ['the registry does not take this name and password for *', '镜像仓库拒绝了用户名或密码：*'],
  ['the image has nothing for *', '镜像没有适用于 * 的内容'],
  ['the server was restarted and has forgotten the password: pull again', '服务已重启，密码未保存：请重新拉取'],
  ['the server stops; the task goes on after its next start', '服务正在停止，任务会在下次启动后继续'],
  ['the bytes are no picture of a known format', '不是已知格式的图片'],
  ['its image_id is not among the images', '其 image_id 不在图片列表中'],
  ['it was clipped at the edge of the picture of * x * pixels', '已按图片边缘裁剪（* x * 像素）'],
  ['"*" was not uploaded; its annotation is kept until it comes', '“*”尚未上传，其标注将保留到图片到来'],
  ['"*" has annotations already; these are left out', '“*”已有标注，这些标注未导入'],
  ['* shapes lie outside the new picture and were dropped', '* 个图形在新图片之外，已丢弃'],
  ["* shapes were cut at the picture's edge, * lay outside and were dropped", '* 个图形按图片边缘裁剪，* 个在图片之外已丢弃'],
  ['* samples were changed by somebody since and stay as they are now', '* 个样本此后已被修改，保持现状'],
  ['it has no name', '没有名称'],
  ['it is *, the dataset holds *', '类型为 *，而数据集为 *'],
  ['it is a link or a device, not a file', '是链接或设备，不是文件'],
  ['it was removed while the import ran', '导入期间被删除'],
  ['its * is NULL', '* 为 NULL'],
  ['it is no JSON object', '不是 JSON 对象'],
  ['the label was left out: it is not UTF-8', '标签不是 UTF-8，未导入'],
  ['it is too deep', '层级过深'],
  ['it cannot be read', '无法读取'],
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
  ['s3: there is no object whose key starts with "*"', 'S3：没有以“*”开头的对象'],
  ['database: *', '数据库：*'],
]

const patterns = sentences.map(([en, zh]) => ({
  parts: new RegExp(`^${en.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\/]/g, '\\$&')).join('([^]*?)')}$`),
  zh,
}))

/** A sentence of the server in the reader's language. */
export function sentence(text: string, language: Language): string {
  if (language !== 'zh') return text
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
