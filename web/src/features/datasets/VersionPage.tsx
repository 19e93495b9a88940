import { Button, Dropdown } from 'antd'
import { Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { Link, useNavigate, useParams, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl, listUrl, projectUrl } from '../../app/links'
import { NotFoundPage, ProblemPage } from '../../app/pages'
import type { Kind } from '../../api/kinds'
import { lasting, useItem } from '../../api/objects'
import { may, offers } from '../../api/session'
import { formatBytes } from '../../components/format'
import { useTitle } from '../../components/hooks'
import { Icon } from '../../components/Icon'
import { nameOf } from '../../components/names'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { FileBrowser } from '../files/FileBrowser'
import { FileCompare } from '../files/FileCompare'
import { Dialogs, type Open } from '../objects/Dialogs'
import { ListView } from '../objects/ListView'
import type { Lineage } from '../trainings/instances'
import { Compare } from './Compare'
import './data.css'
import { Duplicates } from './Duplicates'
import { ExportTab } from './ExportTab'
import { Gallery } from './Gallery'
import { ImportTab } from './ImportTab'
import { Preprocess } from './Preprocess'
import { Publish } from './Publish'
import { RecordsTab } from './RecordsTab'
import { useVersionNumber, type Version } from './samples'
import { useColorOf } from './Splits'
import { StatisticsTab } from './StatisticsTab'
import type { Step } from './steps'
import { StateTag } from './Versions'
import { lazyPart } from '../../app/part'

const ModelTab = lazyPart(() => import('../models/ModelTab'), 'ModelTab')
const TryTab = lazyPart(() => import('../models/TryTab'), 'TryTab')
const EvaluationsTab = lazyPart(() => import('../evaluations/EvaluationsTab'), 'EvaluationsTab')
const Deploy = lazyPart(() => import('../services/Deploy'), 'Deploy')
const TrainDrawer = lazyPart(() => import('../trainings/TrainDrawer'), 'TrainDrawer')
const VersionLabelling = lazyPart(() => import('../labelling/VersionLabelling'), 'VersionLabelling')
const AskReview = lazyPart(() => import('../labelling/PublishReview'), 'AskReview')
const ReviewNote = lazyPart(() => import('../labelling/PublishReview'), 'ReviewNote')
const LineageGraph = lazyPart(() => import('../lineage/LineageGraph'), 'LineageGraph')
const LineageFacts = lazyPart(() => import('../trainings/Lineage'), 'LineageFacts')

export function VersionPage() {
  const { plural, id, number } = useParams()
  const { kinds } = useApp()
  const parentKind = kinds.find((k) => k.plural === plural && k.scope === 'project')
  const kind = kinds.find((k) => k.scope === 'child' && k.parent === parentKind?.name && k.plural === 'versions')
  const whole = (text: string | undefined) => (/^[1-9]\d{0,15}$/.test(text ?? '') ? Number(text) : NaN)
  if (!parentKind || !kind || Number.isNaN(whole(id)) || Number.isNaN(whole(number))) return <NotFoundPage />
  return <Found key={`${parentKind.name}-${id}-${number}`} parentKind={parentKind} kind={kind} id={whole(id)} number={whole(number)} />
}

function Found({ parentKind, kind, id, number }: { parentKind: Kind; kind: Kind; id: number; number: number }) {
  const { project, session } = useApp()
  const parent = useItem(parentKind, { project: project?.id }, id)
  const found = useVersionNumber(kind, parentKind, id, number)
  useTitle(found.data ? nameOf(kind, found.data) : null, parent.data ? nameOf(parentKind, parent.data) : null, project?.name)
  const mayUpdate = offers(session, kind, 'update', project?.id)
  const version = useMemo<Version | null>(() => {
    if (!parent.data || !found.data) return null
    const published = found.data['state'] === 'published' || ['publishing', 'reviewing'].includes(String(found.data['state'])) || found.data['published'] === true
    return { kind, parentKind, parent: parent.data, item: found.data, path: `/${parentKind.plural}/${id}/versions/${found.data.id}`, open: mayUpdate && !published, may: mayUpdate }
  }, [kind, parentKind, id, parent.data, found.data, mayUpdate])
  const error = lasting(parent) ?? lasting(found)
  if (error) return <ProblemPage error={error} onRetry={() => void (parent.error ? parent.refetch() : found.refetch())} />
  if (found.data === null) return <NotFoundPage />
  if (!version) return <div className="skeleton" aria-busy="true"><div /><div /><div /></div>
  return <Loaded version={version} />
}

const dataTabs = ['samples', 'statistics', 'labelling', 'import', 'export', 'records', 'duplicates', 'compare', 'lineage', 'activity'] as const
const fileTabs = ['files', 'model', 'try', 'evaluations', 'lineage', 'compare', 'activity'] as const
type Tab = (typeof dataTabs)[number] | (typeof fileTabs)[number]

function Loaded({ version }: { version: Version }) {
  const { t, w, n } = useI18n()
  const { session, project, kind: byName } = useApp()
  const navigate = useNavigate()
  const [params] = useSearchParams()
  const [open, setOpen] = useState<Open | 'publish' | 'ask' | 'deploy' | 'train' | { preprocess: Step[] } | null>(params.get('open') === 'deploy' ? 'deploy' : null)
  const { kind, parentKind, parent, item } = version
  const data = kind.name === 'dataset_version'
  const audit = byName('audit')
  const title = `${nameOf(parentKind, parent)} ${nameOf(kind, item)}`
  const colorOf = useColorOf(version)
  const tabs: Tab[] = (data ? [...dataTabs] : [...fileTabs]).filter((tab) =>
    tab === 'import' ? version.open : tab === 'try' ? kind.name === 'model_version' && Number(item['files']) > 0 && may(session, 'service.invoke', project?.id) : tab === 'model' ? kind.name === 'model_version' && Number(item['files']) > 0 : tab === 'evaluations' ? kind.name === 'model_version' && Number(item['files']) > 0 && may(session, 'evaluation.read', project?.id) : tab === 'duplicates' ? parent['data_type'] === 'image' : tab === 'activity' ? audit !== undefined && offers(session, audit, 'list') : true)
  const first: Tab = data ? 'samples' : 'files'
  const now = tabs.find((tab) => tab === params.get('tab')) ?? first
  const tabBar = useRef<HTMLElement>(null)
  // In braces: what browsers return from this is no way to undo it.
  useEffect(() => {
    tabBar.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [now])
  const parentUrl = itemUrl(parentKind, parent.id, project) ?? '/'
  const mayDelete = offers(session, kind, 'delete', project?.id)
  const mayPreprocess = data && parent['data_type'] === 'image' && may(session, 'dataset_version.create', project?.id) && Number(item['samples']) > 0
  const place = { parent: { kind: parentKind, id: parent.id } }
  const mayDeploy = kind.name === 'model_version' && Number(item['files']) > 0 && may(session, 'service.create', project?.id)
  const mayTrain = data && Number(item['samples']) > 0 && may(session, 'training.create', project?.id) && may(session, 'training.start', project?.id)
  // Who came to deploy, from a training's result, finds the page without that when it is loaded again.
  const closeDeploy = () => {
    setOpen(null)
    if (params.has('open')) void navigate('?', { replace: true })
  }
  const menu = [
    ...(mayPreprocess ? [{ key: 'preprocess', label: t('preprocess.title') }] : []),
    ...(offers(session, kind, 'update', project?.id) ? [{ key: 'edit', label: t('object.edit') }] : []),
    ...(mayDelete ? [{ key: 'delete', label: t('object.delete'), danger: true }] : []),
  ]
  return (
    <article className="detail">
      <nav className="crumbs" aria-label={t('object.path')}>
        <ol>
          {project && <li><Link to={projectUrl(project.name)}>{project.name}</Link></li>}
          <li><Link to={listUrl(parentKind, project) ?? '/'}>{w(parentKind.titles)}</Link></li>
          <li><Link to={parentUrl}>{nameOf(parentKind, parent)}</Link></li>
        </ol>
      </nav>
      <header className="detail-head version-head">
        <h1>{nameOf(parentKind, parent)} <span className="muted">{nameOf(kind, item)}</span></h1>
        <StateTag item={item} />
        <span className="muted num version-facts">
          {data ? t('versions.samples', { n: n(Number(item['samples'])) }) : t('versions.files', { n: n(Number(item['files'])) })}
          {' · '}{formatBytes(Number(item['bytes']))}{' · '}<Time at={item.updated_at} />
        </span>
        <div className="row wrap">
          {data && version.open && <Button type={Number(item['samples']) === 0 ? 'primary' : 'default'} onClick={() => void navigate('?tab=import')}>{t('import.title')}</Button>}
          {tabs.includes('try') && now !== 'try' && <Button onClick={() => void navigate('?tab=try')}>{t('try.title')}</Button>}
          {mayDeploy && <Button type="primary" onClick={() => setOpen('deploy')}>{t('deploy.button')}</Button>}
          {data && version.open && Number(item['samples']) > 0 && <Button type="primary" onClick={() => void navigate('label')}>{t('bench.label')}</Button>}
          {mayTrain && <Button type={version.open ? 'default' : 'primary'} onClick={() => setOpen('train')}>{t('train.button')}</Button>}
          {version.open && <Button onClick={() => setOpen('publish')}>{t('publish.title')}</Button>}
          {menu.length > 0 && (
            <Dropdown trigger={['click']} menu={{ items: menu, onClick: ({ key }) => setOpen(key === 'preprocess' ? { preprocess: [] } : { what: key as 'edit' | 'delete', item }) }}>
              <Button aria-label={t('object.more')} icon={<Icon name="more" />} />
            </Dropdown>
          )}
        </div>
      </header>
      {typeof item['description'] === 'string' && item['description'] !== '' && <p className="lead pre">{item['description']}</p>}
      {data && <Suspense fallback={null}><ReviewNote path={version.path} item={item} name={title} /></Suspense>}
      <nav ref={tabBar} className="tabs" aria-label={w(kind.title)}>
        {tabs.map((tab) => <Link key={tab} to={tab === first ? '?' : `?tab=${tab}`} aria-current={tab === now ? 'page' : undefined} replace>{t(tab === 'activity' ? 'object.activity' : `tab.${tab}`)}</Link>)}
      </nav>
      {now === 'samples' && <Gallery version={version} />}
      {now === 'statistics' && <StatisticsTab version={version} onPreprocess={mayPreprocess ? (threshold) => setOpen({ preprocess: [{ op: 'blur', threshold }] }) : undefined} />}
      {now === 'labelling' && <Suspense fallback={null}><VersionLabelling path={version.path} colorOf={colorOf} /></Suspense>}
      {now === 'import' && <ImportTab version={version} />}
      {now === 'export' && <ExportTab version={version} />}
      {now === 'records' && <RecordsTab version={version} />}
      {now === 'duplicates' && <Duplicates version={version} />}
      {now === 'compare' && (data ? <Compare version={version} /> : <FileCompare version={version} />)}
      {now === 'lineage' && (
        <Suspense fallback={null}>
          <LineageGraph kind={kind.name} id={item.id} />
          {item['lineage'] !== null && typeof item['lineage'] === 'object' && <LineageFacts lineage={item['lineage'] as Lineage} />}
        </Suspense>
      )}
      {now === 'model' && <Suspense fallback={null}><ModelTab version={version} /></Suspense>}
      {now === 'try' && <Suspense fallback={null}><TryTab version={version} /></Suspense>}
      {now === 'evaluations' && <Suspense fallback={null}><EvaluationsTab version={version} /></Suspense>}
      {now === 'files' && <FileBrowser version={version} />}
      {now === 'activity' && audit && <ListView kind={audit} place={{}} fixed={`kind = ${JSON.stringify(kind.name)} and object = ${item.id}`} hiddenFields={['kind', 'object', 'name', 'project']} />}
      {open === 'deploy' && <Suspense fallback={null}><Deploy version={version} onClose={closeDeploy} /></Suspense>}
      {open === 'train' && <Suspense fallback={null}><TrainDrawer version={version} onClose={() => setOpen(null)} /></Suspense>}
      {open === 'publish' && <Publish version={version} onClose={() => setOpen(null)} onAsk={data ? () => setOpen('ask') : undefined} />}
      {open === 'ask' && <Suspense fallback={null}><AskReview path={version.path} name={title} onClose={() => setOpen(null)} /></Suspense>}
      {open !== null && typeof open === 'object' && 'preprocess' in open && <Preprocess version={version} first={open.preprocess} onClose={() => setOpen(null)} />}
      {open !== null && typeof open === 'object' && 'what' in open && <Dialogs kind={kind} place={place} open={open} onClose={() => setOpen(null)} onDeleted={() => void navigate(parentUrl, { replace: true })} />}
    </article>
  )
}
