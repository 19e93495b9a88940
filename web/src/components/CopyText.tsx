import { Button, Tooltip } from 'antd'
import { useState } from 'react'
import { useI18n } from '../i18n'
import { Icon } from './Icon'

/** Puts a text on the clipboard. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Plain http: the clipboard API is missing, the old way works.
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
}

export function CopyText({ text, label }: { text: string; label: string }) {
  const { t } = useI18n()
  const [done, setDone] = useState(false)
  return (
    <div className="copy">
      <code aria-label={label}>{text}</code>
      <Tooltip title={done ? t('value.copied') : t('value.copy')}>
        <Button
          aria-label={`${t('value.copy')}: ${label}`}
          icon={<Icon name={done ? 'check' : 'copy'} />}
          onClick={() => void copy(text).then(() => setDone(true))}
        />
      </Tooltip>
    </div>
  )
}
