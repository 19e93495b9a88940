import { App, Button, Input } from 'antd'
import { useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'react-router'
import { useSession } from '../../api/session'
import { formatBytes } from '../../components/format'
import { useI18n } from '../../i18n'
import { Code } from './Code'
import type { Operation, Parameter } from './reference'
import { ask, type Told } from './ask'
import { addressOf, slot, type Filled } from './snippets'

/** A form that asks the server for real, as the person who is signed in or with a token. */
export function TryIt({ operation, filled, onFill }: { operation: Operation; filled: Filled; onFill: (filled: Filled) => void }) {
  const { t } = useI18n()
  const { modal } = App.useApp()
  const session = useSession()
  const signedIn = session.data !== undefined && !session.error
  const [token, setToken] = useState('')
  const [file, setFile] = useState<File | null>(null)
  const [told, setTold] = useState<Told | null>(null)
  const asking = useRef<AbortController | null>(null)
  useEffect(() => () => asking.current?.abort(), [])
  const json = operation.body?.media === 'application/json'
  const wrong = json && filled.body.trim() !== '' && !isJson(filled.body)
  const missing = operation.parameters.filter((one) => one.required && (filled.values[slot(one)] ?? '') === '')
  const send = () => {
    asking.current?.abort()
    const control = new AbortController()
    asking.current = control
    void ask(operation, { ...filled, file, token }, control.signal, (now) => { if (asking.current === control) setTold(now) })
  }
  const sendAsked = () => {
    if (operation.method !== 'DELETE') return send()
    void modal.confirm({ title: t('docs.deleteTitle'), content: <code>{operation.method} {addressOf(operation, filled)}</code>, okText: t('docs.send'), cancelText: t('form.cancel'), okButtonProps: { danger: true }, onOk: send })
  }
  const fill = (one: Parameter, value: string) => onFill({ ...filled, values: { ...filled.values, [slot(one)]: value } })
  return (
    <form className="docs-try" aria-label={t('docs.try')} onSubmit={(event) => { event.preventDefault(); if (!wrong && missing.length === 0) sendAsked() }}>
      <h3>{t('docs.try')}</h3>
      {!operation.open && (signedIn
        ? <p className="muted">{t('docs.sendsAs', { name: session.data?.user.name ?? '' })}</p>
        : <SignedOut token={token} onToken={setToken} />)}
      <div className="docs-fields">
        {operation.parameters.map((one) => (
          <label key={slot(one)}>
            <span><code>{one.name}</code>{one.required && <span className="docs-required">{t('docs.required')}</span>}</span>
            <Input size="small" value={filled.values[slot(one)] ?? ''} onChange={(event) => fill(one, event.target.value)} />
          </label>
        ))}
      </div>
      {json && (
        <label className="docs-body">
          <span>{t('docs.body')}</span>
          <Input.TextArea autoSize={{ minRows: 3, maxRows: 18 }} spellCheck={false} status={wrong ? 'error' : ''} value={filled.body} onChange={(event) => onFill({ ...filled, body: event.target.value })} />
          {wrong && <span className="docs-wrong" role="alert">{t('docs.notJson')}</span>}
        </label>
      )}
      {operation.body && !json && <label className="docs-body"><span>{t('docs.body')}</span><input type="file" onChange={(event) => setFile(event.target.files?.[0] ?? null)} /></label>}
      <div className="row wrap">
        <Button htmlType="submit" type="primary" danger={operation.method === 'DELETE'} disabled={wrong || missing.length > 0} loading={told?.state === 'asking'}>{t('docs.send')}</Button>
        {told?.state === 'asking' && <Button onClick={() => asking.current?.abort()}>{t('docs.stop')}</Button>}
        <code className="muted">{operation.method} {addressOf(operation, filled)}</code>
        {operation.method !== 'GET' && <span className="muted">{t('docs.forReal')}</span>}
      </div>
      <div aria-live="polite">{told && <Answer told={told} />}</div>
    </form>
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const tokenShape = 'ingot_…'

function SignedOut({ token, onToken }: { token: string; onToken: (token: string) => void }) {
  const { t } = useI18n()
  const { pathname, hash } = useLocation()
  return (
    <div className="note docs-signed-out">
      <p>{t('docs.signedOut')} <Link to={`/sign-in?next=${encodeURIComponent(pathname + hash)}`}>{t('signIn.submit')}</Link></p>
      <label><span>{t('docs.token')}</span><Input.Password size="small" autoComplete="off" value={token} placeholder={tokenShape} onChange={(event) => onToken(event.target.value.trim())} /></label>
    </div>
  )
}

function Answer({ told }: { told: Told }) {
  const { t } = useI18n()
  if (told.state === 'failed') return <p className="docs-wrong">{t('docs.noAnswer')}</p>
  if (told.status === null) return null
  return (
    <div className="docs-told">
      <p><strong className={told.status < 400 ? 'docs-fine' : 'docs-wrong'}>{told.status} {told.statusText}</strong> <span className="muted">{told.ms === null ? '' : `${Math.round(told.ms)} ms · `}{formatBytes(told.bytes)}{told.media && ` · ${told.media}`}</span></p>
      {told.headers.length > 0 && <p className="muted docs-headers">{told.headers.map(([name, value]) => <code key={name}>{name}: {value}</code>)}</p>}
      {told.picture ? <img src={told.picture} alt={t('docs.answered')} /> : told.text !== '' && <Code text={told.text} language={told.media?.includes('json') ? 'json' : undefined} label={t('docs.answered')} />}
      {told.cut && <p className="muted">{t('docs.cut')}</p>}
      {told.download && <p><a href={told.download} download="answer">{t('sample.download')}</a></p>}
    </div>
  )
}
