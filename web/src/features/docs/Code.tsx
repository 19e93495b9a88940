import { Button, Tooltip } from 'antd'
import { useMemo, useState } from 'react'
import { copy } from '../../components/CopyText'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import '../files/highlight.css'
import { highlight } from '../files/highlight'

/** A text of a language, with its parts told apart and a button that copies it. */
export function Code({ text, language, label }: { text: string; language?: string; label?: string }) {
  const { t } = useI18n()
  const [copied, setCopied] = useState('')
  const pieces = useMemo(() => highlight(`x.${{ python: 'py' }[language ?? ''] ?? language ?? 'txt'}`, text), [text, language])
  const done = copied === text
  return (
    <div className="docs-code">
      <pre tabIndex={0} aria-label={label}>{pieces.map(([piece, part], i) => (part ? <span key={i} className={`code-${part}`}>{piece}</span> : piece))}</pre>
      <Tooltip title={done ? t('value.copied') : t('value.copy')}>
        <Button size="small" type="text" aria-label={label ? `${t('value.copy')}: ${label}` : t('value.copy')} icon={<Icon name={done ? 'check' : 'copy'} size={14} />} onClick={() => void copy(text).then(() => setCopied(text))} />
      </Tooltip>
    </div>
  )
}
