import { useI18n } from '../../i18n'
import { useApp } from '../../app/context'
import { may } from '../../api/session'
import { ScriptLog } from '../../components/ScriptLog'
import { Facts } from '../objects/ObjectTabs'
import type { SpecialProps } from '../objects/special'
import { InstallTool } from './InstallTool'

const hidden = ['name', 'title', 'description', 'description_zh', 'reason', 'reason_zh', 'task']

/** A tool: what it is for, what it costs or how far it is, what was said while it was installed. */
export function ToolOverview({ kind, item }: SpecialProps) {
  const { language, t } = useI18n()
  const { session } = useApp()
  const said = String((language === 'zh' && item['description_zh']) || item['description'] || '')
  return (
    <div className="summary">
      {said && <p>{said}</p>}
      <InstallTool name={String(item['name'])} />
      <Facts brief kind={{ ...kind, fields: kind.fields.filter((f) => !hidden.includes(f.name)) }} item={item} />
      {may(session, 'tool.fetch') && <ScriptLog path={`/tools/${item.id}/log`} title={t('tool.log')} none={t('tool.noLog')} growing={item['state'] === 'fetching'} />}
    </div>
  )
}
