import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import type { Item, Kind } from '../../api/kinds'
import { listPage } from '../../api/objects'
import { Icon } from '../../components/Icon'
import { nameOf } from '../../components/names'
import { useI18n } from '../../i18n'
import { RowActions, type RowsProps } from '../objects/rows'
import { listSamples, thumbnailUrl } from './samples'
import './data.css'

const pictures = 4

/** Datasets with a look at their first pictures, instead of rows. */
export function DatasetCards({ kind, items, urlOf, may, onAct, active }: RowsProps) {
  const { t, w, n } = useI18n()
  const types = kind.fields.find((f) => f.name === 'annotation_type')?.choices ?? []
  return (
    <ul className="dataset-cards">
      {items.map((item, i) => {
        const url = urlOf(item)
        const samples = Number(item['samples'])
        const type = types.find((c) => c.value === item['annotation_type'])
        return (
          <li key={item.id} className={i === active ? 'dataset-card active' : 'dataset-card'}>
            <Cover kind={kind} item={item} />
            <div className="card-head">
              <strong className="clip-line" title={nameOf(kind, item)}>{url ? <Link className="card-link" to={url}>{nameOf(kind, item)}</Link> : nameOf(kind, item)}</strong>
              <RowActions kind={kind} item={item} may={may} onAct={onAct} />
            </div>
            <p className="muted clip-line">{type ? w(type.title) : String(item['annotation_type'])}</p>
            <p className="muted num clip-line">
              {samples > 0 ? `${t('versions.samples', { n: n(samples) })} · ${t('dataset.annotated', { share: n(Math.floor((Number(item['annotated']) / samples) * 100)) })}` : t('gallery.empty')}
            </p>
          </li>
        )
      })}
    </ul>
  )
}

function Cover({ kind, item }: { kind: Kind; item: Item }) {
  const { kind: byName } = useApp()
  const version = byName('dataset_version')
  const image = item['data_type'] === 'image'
  const found = useQuery({
    queryKey: ['objects', 'dataset_version', 'cover', item.id],
    queryFn: async ({ signal }) => {
      const newest = version && (await listPage(version, { parent: { kind, id: item.id } }, { sort: '-number', limit: 1 }, signal)).items[0]
      if (!newest) return []
      const path = `/${kind.plural}/${item.id}/versions/${newest.id}`
      return (await listSamples(path, {}, 0, pictures, signal)).items.map((sample) => thumbnailUrl(path, sample, 256))
    },
    enabled: image && Number(item['samples']) > 0,
  })
  const shown = found.data ?? []
  return (
    <div className="cover" aria-hidden="true">
      {shown.length > 0 ? shown.map((url) => <img key={url} src={url} alt="" loading="lazy" decoding="async" />) : <Icon name={item['data_type'] === 'audio' ? 'sound' : image ? 'picture' : 'list'} size={24} />}
    </div>
  )
}
