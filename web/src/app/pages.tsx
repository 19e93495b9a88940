import { Button } from 'antd'
import { useEffect, useState } from 'react'
import { useLocation, useNavigate, useRouteError } from 'react-router'
import { Problem } from '../api/client'
import { serverBack } from '../api/reach'
import { problemTitle } from '../components/problem'
import { useI18n } from '../i18n'

export function MessagePage(props: { title: string; text: string; permission?: string | null; onRetry?: () => void }) {
  const { t } = useI18n()
  const navigate = useNavigate()
  return (
    <section className="message-page" role="alert">
      <h1>{props.title}</h1>
      <p>{props.text}</p>
      {props.permission && <p><code>{props.permission}</code></p>}
      <div className="row">
        {props.onRetry && <Button type="primary" onClick={props.onRetry}>{t('error.retry')}</Button>}
        <Button onClick={() => void navigate('/')}>{t('error.home')}</Button>
      </div>
    </section>
  )
}

export function NotFoundPage() {
  const { t } = useI18n()
  const { pathname } = useLocation()
  return <MessagePage title={t('error.notFoundTitle')} text={t('error.notFoundText', { path: pathname })} />
}

export function ForbiddenPage({ permission }: { permission: string | null }) {
  const { t } = useI18n()
  const text = permission ? t('error.forbiddenNeeds', { permission }) : t('error.forbidden')
  return <MessagePage title={t('error.forbiddenTitle')} text={text} />
}

/** A page whose main request failed. */
export function ProblemPage({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const i18n = useI18n()
  if (error instanceof Problem && error.status === 404) return <NotFoundPage />
  if (error instanceof Problem && error.status === 403) return <ForbiddenPage permission={error.permission} />
  const detail = error instanceof Problem ? error.detail : String(error)
  return <MessagePage title={problemTitle(error, i18n)} text={detail} onRetry={onRetry} />
}

const reloaded = 'ingot.reloaded'

/** A bug in a page, or a chunk that did not come: the network failed, or it is one of an older version and gone after an
 * upgrade. The page is then loaded anew, once in a minute, when the server answers. */
export function CrashPage() {
  const { t } = useI18n()
  const error = useRouteError()
  const gone = error instanceof TypeError && /import/.test(error.message)
  const [again] = useState(() => gone && Date.now() - Number(sessionStorage.getItem(reloaded)) > 60_000)
  useEffect(() => {
    if (!again) return
    void serverBack().then(() => {
      sessionStorage.setItem(reloaded, String(Date.now()))
      window.location.reload()
    })
  }, [again])
  if (again) return null
  return (
    <section className="message-page" role="alert">
      <h1>{gone ? t('app.newVersion') : t('app.crash')}</h1>
      <p>{gone ? '' : t('app.crashHint')}</p>
      {!gone && error instanceof Error && <pre>{error.message}</pre>}
      <Button type="primary" onClick={() => void serverBack().then(() => window.location.reload())}>{t('app.reload')}</Button>
    </section>
  )
}
