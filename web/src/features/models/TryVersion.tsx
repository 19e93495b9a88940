import { useMemo } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import { apiUrl, send } from '../../api/client'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { TryIt } from '../services/TryIt'
import type { Manifest } from './manifest'
import { useTrial } from './trial'

/** Try a model version without a service; by `manifest`, or by the version's own when there is none. */
export function TryVersion({ version, manifest, sample }: { version: Version; manifest?: Manifest; sample?: string }) {
  const { t, language } = useI18n()
  const { project, kind: byName } = useApp()
  const { trial, ready } = useTrial(version.path, project?.id)
  const jobs = byName('job')
  const path = useMemo(() => (project ? `${version.path}/predict?project=${project.id}` : `${version.path}/predict`), [version.path, project])
  const bytes = async () => {
    const answer = await send(apiUrl(`${version.path}/content`, { path: sample ?? '' }))
    if (!answer.ok) throw new Error(String(answer.status))
    return new Blob([await answer.arrayBuffer()], { type: typeOf(sample ?? '') })
  }
  const reason = trial && ((language === 'zh' && trial.reason_zh) || trial.reason)
  const state = trial && (trial.state === 'waiting' || trial.state === 'starting' || trial.state === 'failed' || trial.state === 'none') && (
    <p className={trial.state === 'failed' || trial.state === 'none' ? 'note note-error' : 'note'} role="status">
      {t(`try.state.${trial.state}`)}{reason ? ` ${reason}` : ''}
      {jobs && trial.job !== null && <> <Link to={`${itemUrl(jobs, trial.job, project) ?? '/'}?tab=log`}>{t('job.log')}</Link></>}
    </p>
  )
  return <TryIt path={path} before={ready} manifest={manifest} sample={sample ? bytes : undefined} state={state} />
}

const types: Record<string, string | undefined> = { jpg: 'image/jpeg', jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp', wav: 'audio/wav', flac: 'audio/flac', mp3: 'audio/mpeg', ogg: 'audio/ogg', txt: 'text/plain' }

function typeOf(path: string): string {
  return types[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
}
