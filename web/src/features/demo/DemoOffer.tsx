import { Button } from 'antd'
import { useNavigate } from 'react-router'
import { formatBytes } from '../../components/format'
import { useI18n } from '../../i18n'
import { isWorking, useDemo } from './demo'
import './demo.css'

/** On an empty platform, for those who may: an example of everything, and what it costs. */
export function DemoOffer() {
  const { t, n } = useI18n()
  const navigate = useNavigate()
  const demo = useDemo().data
  if (!demo || (demo.state !== 'absent' && demo.state !== 'part' && !isWorking(demo))) return null
  return (
    <aside className="demo-offer" aria-label={t('demo.title')}>
      <div>
        <b>{t('demo.offer')}</b>
        <p className="muted">{t('demo.offerText', { bytes: formatBytes(demo.bytes ?? 0), minutes: n(Math.ceil(demo.minutes ?? 1)) })}</p>
      </div>
      <Button onClick={() => void navigate('/demo')}>{t(demo.state === 'absent' ? 'demo.begin' : 'demo.see')}</Button>
    </aside>
  )
}
