import { useMemo } from 'react'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { thresholdsOf } from '../models/manifest'
import { sampleOf } from './sample'
import { useServiceModel } from './services'
import { TryIt } from './TryIt'

/** Ask the model of a service by hand. */
export function TryService({ service }: { service: number }) {
  const { t } = useI18n()
  const found = useServiceModel(service, true)
  const model = found.data
  const thresholds = useMemo(() => (model?.task ? Object.fromEntries(thresholdsOf(model.task).map((name) => [name, model.thresholds[name] ?? 0])) : {}), [model])
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!model) return <Skeleton n={1} />
  if (!model.predicts) return <p className="note">{t('try.noManifest')}</p>
  const { sample } = model
  return <TryIt path={`/services/${service}/predict`} thresholds={thresholds} takes={model.takes ?? undefined} sample={sample === null ? undefined : () => sampleOf(`/model-sets/${model.model_set}/versions/${model.model_version}`, sample)} />
}
