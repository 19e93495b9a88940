import { useMemo } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl } from '../../app/links'
import { useI18n } from '../../i18n'
import type { Version } from '../datasets/samples'
import { sampleOf } from '../services/sample'
import { TryIt } from '../services/TryIt'
import { kindsOf, thresholdDefaults, thresholdsOf, type Manifest } from './manifest'
import { useTrial } from './trial'

interface Props {
  version: Version
  /** What the version says of itself, or is to say. */
  described: Manifest
  /** By `described`, which is not saved. */
  unsaved?: boolean
}

/** Try a model version without a service. */
export function TryVersion({ version, described, unsaved }: Props) {
  const { t, language } = useI18n()
  const { project, kind: byName } = useApp()
  const { trial, ready } = useTrial(version.path, project?.id)
  const jobs = byName('job')
  const path = useMemo(() => (project ? `${version.path}/predict?project=${project.id}` : `${version.path}/predict`), [version.path, project])
  const { task, thresholds: own, sample } = described
  const kinds = kindsOf(task)
  const thresholds = useMemo(() => Object.fromEntries(thresholdsOf(task).map((name) => [name, own?.[name] ?? thresholdDefaults[name] ?? 0])), [task, own])
  const reason = trial && ((language === 'zh' && trial.reason_zh) || trial.reason)
  const state = trial && (trial.state === 'waiting' || trial.state === 'starting' || trial.state === 'failed' || trial.state === 'none') && (
    <p className={trial.state === 'failed' || trial.state === 'none' ? 'note note-error' : 'note'} role="status">
      {t(`try.state.${trial.state}`)}{reason ? ` ${reason}` : ''}
      {jobs && trial.job !== null && <> <Link to={`${itemUrl(jobs, trial.job, project) ?? '/'}?tab=log`}>{t('job.log')}</Link></>}
    </p>
  )
  return <TryIt path={path} before={ready} manifest={unsaved ? described : undefined} thresholds={thresholds} takes={kinds.length === 1 ? kinds[0] : undefined} sample={sample ? () => sampleOf(version.path, sample) : undefined} state={state} />
}
