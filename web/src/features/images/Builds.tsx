import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import type { Item } from '../../api/kinds'
import { listPage } from '../../api/objects'
import { offers } from '../../api/session'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { reasonOf } from '../jobs/jobs'
import { StateTag } from '../jobs/State'

const shown = 5

/** The latest builds with a script, each with the way to its log; not there before the first. */
export function Builds({ image }: { image: Item }) {
  const i18n = useI18n()
  const { t } = i18n
  const { kind: byName, session, project } = useApp()
  const jobs = byName('job')
  const builds = useQuery({
    queryKey: ['objects', 'job', 'builds', image.id],
    queryFn: async ({ signal }) => (jobs ? (await listPage(jobs, { project: project?.id }, { filter: `owner_kind = "image_build" and owner = ${image.id}`, sort: '-created_at', limit: shown }, signal)).items : []),
    enabled: jobs !== undefined && offers(session, jobs, 'list', project?.id),
  })
  if (!jobs || !builds.data || builds.data.length === 0) return null
  return (
    <section className="block">
      <h2>{t('images.builds')}</h2>
      <div className="table-box">
        <table className="table builds">
          <thead><tr><th scope="col">{t('images.build')}</th><th scope="col">{t('job.state')}</th><th scope="col">{t('job.reason')}</th><th scope="col">{t('job.at')}</th></tr></thead>
          <tbody>
            {builds.data.map((job) => {
              const reason = reasonOf(job, i18n)
              const url = itemUrl(jobs, job.id, project)
              return (
                <tr key={job.id}>
                  <td className="first">{url ? <Link to={`${url}?tab=log`} title={String(job['name'])}>{String(job['name'])}</Link> : String(job['name'])}</td>
                  <td><StateTag state={String(job['state'])} /></td>
                  <td title={reason}>{reason || <span className="muted">{t('value.none')}</span>}</td>
                  <td><Time at={job.created_at} /></td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </section>
  )
}
