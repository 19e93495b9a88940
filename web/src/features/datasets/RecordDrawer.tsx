import { Drawer } from 'antd'
import { apiUrl } from '../../api/client'
import { formatBytes } from '../../components/format'
import { useEscape } from '../../components/hooks'
import { useI18n } from '../../i18n'
import { Value } from './RecordValue'
import { fieldType, type RecordItem, type RecordPage } from './records'

/** All fields of one record, in full. */
export function RecordDrawer({ page, item, path, onClose }: { page: RecordPage; item: RecordItem; path: string; onClose: () => void }) {
  const { t, n } = useI18n()
  useEscape(onClose)
  return (
    <Drawer open width="min(760px, 100vw)" onClose={onClose} title={t('records.title', { n: n(item.record) })} extra={<span className="muted num">{formatBytes(item.bytes)}</span>}>
      <dl className="record-fields">
        {page.fields.map((f, i) => (
          <div key={f.name}>
            <dt>{f.name} <span className="muted">{fieldType(f)}</span></dt>
            <dd><Value value={item.values[i]} url={apiUrl(`${path}/value`, { record: item.record, field: f.name })} /></dd>
          </div>
        ))}
      </dl>
    </Drawer>
  )
}
