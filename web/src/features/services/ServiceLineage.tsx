import { Link, useSearchParams } from 'react-router'
import type { Item } from '../../api/kinds'
import { useI18n } from '../../i18n'
import { LineageGraph } from '../lineage/LineageGraph'
import { FindRequest } from '../lineage/RequestLineage'

/** Of one version at a time: production's first, or the one that the address names. */
export function ServiceLineage({ versions }: { versions: Item[] }) {
  const { t } = useI18n()
  const [params] = useSearchParams()
  const rank = (v: Item) => (String(v.id) === params.get('version') ? 0 : v['role'] === 'production' ? 1 : v['role'] === 'canary' ? 2 : 3)
  const shown = [...versions].sort((a, b) => rank(a) - rank(b))[0]
  if (!shown) return null
  return (
    <>
      {versions.length > 1 && (
        <nav className="row wrap lineage-versions" aria-label={t('service.version')}>
          {versions.map((v) => <Link key={v.id} to={`?tab=lineage&version=${v.id}`} aria-current={v === shown ? 'page' : undefined} replace>{String(v['name'])}</Link>)}
        </nav>
      )}
      <FindRequest />
      <LineageGraph key={shown.id} kind="service_version" id={shown.id} />
    </>
  )
}
