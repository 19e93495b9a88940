import type { Item } from '../../api/kinds'
import type { ShowProps } from '../../components/editors'
import { Markdown } from '../../components/Markdown'
import { Empty } from '../../components/States'
import { useI18n } from '../../i18n'
import { withPictures } from './instructions'

/** In a list of facts: as it was typed. */
export function InstructionsShow({ value }: ShowProps) {
  return <span className="pre">{typeof value === 'string' ? value : ''}</span>
}

/** What the people of the task are told. */
export function Instructions({ task }: { task: Item }) {
  const { t } = useI18n()
  const text = typeof task['instructions'] === 'string' ? task['instructions'] : ''
  if (text === '') return <Empty title={t('labelTask.noInstructions')} text={t('labelTask.noInstructionsHint')} />
  return <section className="block"><h2>{t('labelTask.instructions')}</h2><Markdown text={withPictures(text, task.id)} /></section>
}
