import { useQueryClient } from '@tanstack/react-query'
import { Button } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { askServer, useReach, watchServer } from '../api/reach'
import { useI18n } from '../i18n'
import { loadAnew } from './anew'

/** Pictures that did not come while the server was away are asked for again: they do not do so themselves. */
function usePictures(there: boolean): void {
  const failed = useRef(new Set<HTMLImageElement>())
  useEffect(() => {
    const note = ({ target }: Event) => {
      if (target instanceof HTMLImageElement && target.src.startsWith(window.location.origin)) failed.current.add(target)
    }
    document.addEventListener('error', note, true)
    return () => document.removeEventListener('error', note, true)
  }, [])
  useEffect(() => {
    if (!there) return
    for (const picture of failed.current) if (picture.isConnected) picture.setAttribute('src', picture.src)
    failed.current.clear()
  }, [there])
}

/** Says that the server cannot be reached, or that it was upgraded, above whatever is shown. When it is back, what failed
 * meanwhile is asked for again. */
export function ServerAway() {
  const { t, n } = useI18n()
  const { there, next, outdated } = useReach()
  const client = useQueryClient()
  const was = useRef(there)
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const offline = () => void askServer()
    window.addEventListener('offline', offline)
    window.addEventListener('online', offline)
    const watched = watchServer()
    return () => {
      watched()
      window.removeEventListener('offline', offline)
      window.removeEventListener('online', offline)
    }
  }, [])
  usePictures(there)
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
  if (there && !outdated) return null
  if (there) {
    return (
      <div className="server-away upgraded" role="alert">
        <strong>{t('app.newVersion')}</strong>
        <span>{t('away.upgraded')}</span>
        <Button size="small" type="primary" onClick={loadAnew}>{t('app.reload')}</Button>
      </div>
    )
  }
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
