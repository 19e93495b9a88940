import { useQuery } from '@tanstack/react-query'
import { Markdown } from '../../components/Markdown'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { largestText, readText, useFiles } from './files'

/** The README.md of a version, as its author meant it to be read; nothing where there is none. */
export function Readme({ version }: { version: Version }) {
  const { t } = useI18n()
  const files = useFiles(version, '')
  const file = files.data?.find((one) => !one.folder && /^readme(\.(md|markdown|txt))?$/i.test(one.name) && one.size <= largestText)
  const text = useQuery({
    queryKey: ['objects', version.kind.name, 'text', version.item.id, file?.name],
    queryFn: ({ signal }) => readText(version.path, file?.name ?? '', signal),
    enabled: file !== undefined,
  })
  if (!file || typeof text.data !== 'string' || text.data.trim() === '') return null
  return (
    <section className="readme panel" aria-label={t('files.readme')}>
      <h2 className="readme-name muted">{file.name}</h2>
      <Markdown text={text.data} flow />
    </section>
  )
}
