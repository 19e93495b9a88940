import { Button } from 'antd'
import { useEffect, useRef, useState, type DragEvent } from 'react'
import { formatBytes } from '../../components/format'
import { Icon } from '../../components/Icon'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import type { FormNoteProps } from '../objects/special'
import './data.css'
import { choose, chosenFirst, typesOf } from './firstFiles'
import { merge, ofDrop, ofInput, type Dropped } from './uploadModel'

/** In the form of a new dataset: the files it begins with. What they are says what kind of data it is. */
export function NewFiles({ values, onValues }: FormNoteProps) {
  const { t, n } = useI18n()
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const [list, setList] = useState<readonly Dropped[]>([])
  const [over, setOver] = useState(false)
  const [failed, setFailed] = useState<unknown>(null)
  useEffect(() => choose([]), [])
  const add = (more: Dropped[]) => {
    choose(merge(chosenFirst(), more))
    setList(chosenFirst())
    const types = typesOf(chosenFirst())
    if (types && types.data_type !== values['data_type']) onValues(types)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    setFailed(null)
    void ofDrop(event.dataTransfer).then(add, setFailed)
  }
  const clear = () => {
    choose([])
    setList([])
  }
  return (
    <section className="field" aria-label={t('dataset.files')}>
      <span className="field-title">{t('dataset.files')}</span>
      <div className={over ? 'drop drop-small over' : 'drop drop-small'} onDragOver={(e) => { e.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)} onDrop={drop}>
        {list.length > 0 ? (
          <p className="num" role="status">{t('import.chosenCount', { n: n(list.length), size: formatBytes(list.reduce((sum, f) => sum + f.file.size, 0)) })}</p>
        ) : (
          <p><Icon name="up" size={14} /> {t('import.drop')}</p>
        )}
        <div className="row wrap">
          <Button size="small" onClick={() => files.current?.click()}>{t('import.files')}</Button>
          <Button size="small" onClick={() => folder.current?.click()}>{t('import.folder')}</Button>
          {list.length > 0 && <Button size="small" type="text" onClick={clear}>{t('import.clear')}</Button>}
        </div>
        <input ref={files} data-testid="new-files" type="file" multiple hidden onChange={(e) => { add(ofInput(e.target.files)); e.target.value = '' }} />
        <input ref={folder} type="file" hidden {...{ webkitdirectory: '' }} onChange={(e) => { add(ofInput(e.target.files)); e.target.value = '' }} />
      </div>
      <p className="field-help">{t('dataset.filesHelp')}</p>
      {failed !== null && <ProblemNote error={failed} />}
    </section>
  )
}
