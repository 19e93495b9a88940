import { Button } from 'antd'
import { useNavigate } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import type { Item } from '../../api/kinds'
import { may } from '../../api/session'
import { isRef } from '../../components/names'
import { useI18n } from '../../i18n'
import { useLineage } from './instances'
import { useSameTask } from '../services/sameTask'

/** What can be done with the model that a run made: try it, deploy it. */
export function ResultButtons({ path, item }: { path: string; item: Item }) {
  const { t } = useI18n()
  const { session, project, kind: byName } = useApp()
  const navigate = useNavigate()
  const made = isRef(item['model_version'])
  const lineage = useLineage(path, item.id, made)
  const result = lineage.data?.model_version
  const sets = byName('model_set')
  const set = sets && result ? itemUrl(sets, result.set.id, project) : null
  const mayDeploy = may(session, 'service.create', project?.id)
  const canaryOf = useSameTask(isRef(item['model_version']) ? item['model_version'].id : undefined, mayDeploy)[0]?.name
  const number = /^v([1-9]\d*)$/.exec(String(result?.version.name ?? ''))?.[1]
  if (!made || !set || !number) return null
  return (
    <>
      {may(session, 'service.invoke', project?.id) && <Button onClick={() => void navigate(`${set}/v/${number}?tab=try`)}>{t('training.try')}</Button>}
      {mayDeploy && canaryOf && <Button onClick={() => void navigate(`${set}/v/${number}?open=deploy&service=${encodeURIComponent(canaryOf)}`)}>{t('deploy.canaryOf', { name: canaryOf })}</Button>}
      {mayDeploy && <Button type="primary" onClick={() => void navigate(`${set}/v/${number}?open=deploy`)}>{t('training.deploy')}</Button>}
    </>
  )
}
