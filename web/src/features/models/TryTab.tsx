import { Link } from 'react-router'
import { useI18n } from '../../i18n'
import { ErrorState, Skeleton } from '../../components/States'
import type { Version } from '../datasets/samples'
import { fromJson } from './manifest'
import { useManifest } from './ManifestView'
import { TryVersion } from './TryVersion'

/** The tab of a model version on which one asks it. */
export function TryTab({ version }: { version: Version }) {
  const { t } = useI18n()
  const found = useManifest(version)
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton n={1} />
  const manifest = fromJson(found.data.manifest)
  if (!manifest) return <p className="note">{t('try.noManifest')} <Link to="?tab=model">{t('try.describe')}</Link></p>
  return (
    <>
      <p className="muted">{t('try.version')}</p>
      <TryVersion version={version} described={manifest} />
    </>
  )
}
