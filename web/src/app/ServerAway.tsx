import { useQueryClient } from '@tanstack/react-query'
import { Button } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { askServer, useReach } from '../api/reach'
import { useI18n } from '../i18n'

/** Says that the server cannot be reached, above whatever is shown. When it is back, what failed meanwhile is asked for again. */
export function ServerAway() {
  const { t, n } = useI18n()
  const { there, next } = useReach()
  const client = useQueryClient()
  const was = useRef(there)
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const offline = () => void askServer()
    window.addEventListener('offline', offline)
    window.addEventListener('online', offline)
    return () => {
      window.removeEventListener('offline', offline)
      window.removeEventListener('online', offline)
    }
  }, [])
  useEffect(() => {
    if (there && !was.current) void client.refetchQueries({ predicate: (query) => query.state.status === 'error' })
    was.current = there
  }, [there, client])
  useEffect(() => {
    if (next === null) return
    setNow(Date.now())
    const timer = window.setInterval(() => setNow(Date.now()), 1000)
    return () => window.clearInterval(timer)
  }, [next])
  if (there) return null
  const seconds = next === null ? 0 : Math.max(1, Math.ceil((next - now) / 1000))
  return (
    <div className="server-away" role="alert">
      <strong>{t('away.title')}</strong>
      <span>{t('away.text')}</span>
      <span className="num" aria-hidden="true">{next === null ? t('away.asking') : t('away.again', { n: n(seconds) })}</span>
      <Button size="small" disabled={next === null} onClick={() => void askServer()}>{t('away.now')}</Button>
    </div>
  )
}
