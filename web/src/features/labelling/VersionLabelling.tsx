import { useQuery } from '@tanstack/react-query'
import { request, type Schema } from '../../api/client'
import { RefLink } from '../../components/FieldValue'
import { formatDuration } from '../../components/format'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { Bars, Block } from '../datasets/Bars'
import type { ColorOf } from '../datasets/samples'

/** Who labelled and who reviewed a version, over all of its tasks; the same by label and by day. */
export type Labelling = Schema<'DatasetLabelling'>

/** `path`: of the version in the API. */
export function VersionLabelling({ path, colorOf }: { path: string; colorOf: ColorOf }) {
  const { t, n, language } = useI18n()
  const found = useQuery({ queryKey: ['objects', 'dataset_version', 'labelling', path], queryFn: ({ signal }) => request<Labelling>(`${path}/labelling`, { signal }) })
  if (found.error && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const data = found.data
  if (!data) return <Skeleton n={2} />
  if (data.people.length === 0) return <Empty title={t('versionLabelling.none')} text={t('versionLabelling.noneHint')} />
  const day = (at: string) => new Date(at).toLocaleDateString(language === 'zh' ? 'zh-CN' : 'en-GB', { day: 'numeric', month: 'short' })
  return (
    <div className="summary statistics">
      <Block title={t('versionLabelling.people')}>
        <div className="table-box">
          <table className="table">
            <thead><tr><th scope="col">{t('labelTask.member')}</th><th scope="col">{t('labelTask.stage')}</th><th scope="col" className="right">{t('labelCount.submitted')}</th><th scope="col" className="right">{t('labelCount.accepted')}</th><th scope="col" className="right">{t('labelCount.rejected')}</th><th scope="col" className="right">{t('labelTask.active')}</th></tr></thead>
            <tbody>
              {data.people.map((p) => (
                <tr key={`${p.user.id}-${p.stage}`}>
                  <td className="first"><RefLink kindName="user" value={p.user} /></td><td>{t(`labelStage.${p.stage}`)}</td>
                  <td className="right num">{n(p.submitted)}</td><td className="right num">{n(p.accepted)}</td><td className="right num">{n(p.rejected)}</td><td className="right num">{formatDuration(p.active_seconds, language)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Block>
      {data.labels.length > 0 && (
        <Block title={t('statistics.labels')}>
          <Bars label={t('statistics.labels')} rows={data.labels.map((l) => ({ key: l.label, title: l.label, value: l.samples, color: colorOf(l.label), note: t('versionLabelling.label', { review: n(l.review), rejected: n(l.rejected) }) }))} />
        </Block>
      )}
      {data.days.length > 0 && (
        <Block title={t('labelTask.perDayTitle')}>
          <Bars label={t('labelTask.perDayTitle')} rows={data.days.map((d) => ({ key: `${d.day}-${d.stage}`, title: `${day(d.day)} · ${t(`labelStage.${d.stage}`)}`, value: d.submitted, ...(d.rejected > 0 ? { note: t('versionLabelling.rejected', { n: n(d.rejected) }) } : {}) }))} />
        </Block>
      )}
    </div>
  )
}
