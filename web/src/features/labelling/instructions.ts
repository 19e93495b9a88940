// Pictures in the instructions of a task: the text names them by the task's own short names, picture:NAME.
import { apiUrl } from '../../api/client'

export const pictureTypes: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/bmp', 'image/tiff']
export const mostPictureBytes = 16 << 20

/** The text with the addresses of its pictures. */
export function withPictures(text: string, task: number): string {
  return text.replace(/\]\(picture:([0-9a-f]{16})\)/g, (_, name: string) => `](${apiUrl(`/label-tasks/${task}/pictures/${name}`)})`)
}
