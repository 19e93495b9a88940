import { useQuery, useQueryClient } from '@tanstack/react-query'
import { App, Button, Slider } from 'antd'
import { useState } from 'react'
import { request, type Schema } from '../../api/client'
import { invalidate } from '../../api/objects'
import { useDebounced } from '../../components/hooks'
import { problemText } from '../../components/problem'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { thumbnailUrl, type Version } from './samples'
import { Measure } from './Sharpness'

/** Pictures that look alike, in groups; all but the first of a group can be cleaned. */
export function Duplicates({ version }: { version: Version }) {
  const i18n = useI18n()
  const { t, n } = i18n
  const { message } = App.useApp()
  const client = useQueryClient()
  const [distance, setDistance] = useState(4)
  const [shown, setShown] = useState(50)
  const settled = useDebounced(distance, 300)
  const found = useQuery({
    queryKey: ['objects', 'dataset_version', 'duplicates', version.item.id, settled],
    queryFn: ({ signal }) => request<Schema<'DatasetDuplicates'>>(`${version.path}/duplicates`, { query: { distance: settled }, signal }),
  })
  const clean = async (ids: number[], value = true) => {
    try {
      for (let i = 0; i < ids.length; i += 1000) await request(`${version.path}/clean`, { method: 'POST', body: { ids: ids.slice(i, i + 1000), cleaned: value } })
      if (value) void message.open({ key: 'clean', type: 'success', duration: 10, content: <>{t('gallery.cleanedToast', { n: n(ids.length) })} <Button size="small" onClick={() => { message.destroy('clean'); void clean(ids, false) }}>{t('gallery.undo')}</Button></> })
    } catch (error) {
      void message.error(problemText(error, i18n))
    }
    await invalidate(client, 'dataset_version')
  }
  const groups = found.data?.groups ?? []
  const spare = groups.flatMap((g) => g.slice(1).map((s) => s.id))
  const missing = found.data !== undefined && found.data.measured < Number(version.item['samples'])
  return (
    <section>
      {missing && <div className="measure"><p className="muted">{t('statistics.measured', { n: n(found.data?.measured ?? 0), total: n(Number(version.item['samples'])) })}</p><Measure version={version} /></div>}
      <div className="tools">
        <span id="distance-label">{t('duplicates.distance')}</span>
        <Slider className="slider" min={0} max={16} value={distance} onChange={setDistance} ariaLabelledByForHandle="distance-label" />
        <span className="num">{distance}</span>
        <span className="grow" />
        {version.open && spare.length > 0 && <Button onClick={() => void clean(spare)}>{t('duplicates.cleanAll', { n: n(spare.length) })}</Button>}
      </div>
      {found.error ? <ErrorState error={found.error} onRetry={() => void found.refetch()} /> : found.isPending ? <Skeleton n={1} /> : groups.length === 0 ? <Empty title={t(missing ? 'duplicates.notMeasured' : 'duplicates.none')} text={t(missing ? 'duplicates.measureFirst' : 'duplicates.noneHint')} /> : (
        <ul className="groups">
          {groups.slice(0, shown).map((group) => (
            <li key={group[0]?.id} className="panel">
              <div className="row"><span className="num">{t('duplicates.group', { n: n(group.length) })}</span><span className="grow" />{version.open && <Button size="small" onClick={() => void clean(group.slice(1).map((s) => s.id))}>{t('duplicates.clean')}</Button>}</div>
              <ul className="strip">{group.slice(0, 24).map((s) => <li key={s.id}><img src={thumbnailUrl(version.path, s, 128)} alt={s.name} title={s.name} loading="lazy" /></li>)}</ul>
            </li>
          ))}
          {groups.length > shown && <li><Button onClick={() => setShown(shown + 50)}>{t('list.more')}</Button></li>}
        </ul>
      )}
    </section>
  )
}
