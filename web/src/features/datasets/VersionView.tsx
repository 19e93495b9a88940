import { Button } from 'antd'
import { Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { itemUrl, listUrl, versionUrl } from '../../app/links'
import type { Item, Kind } from '../../api/kinds'
import { may, offers, type Session } from '../../api/session'
import { Beside } from '../../components/Aside'
import { formatBytes } from '../../components/format'
import { Markdown } from '../../components/Markdown'
import { nameOf } from '../../components/names'
import { Skeleton } from '../../components/States'
import { Time } from '../../components/Time'
import { useI18n } from '../../i18n'
import { FileBrowser } from '../files/FileBrowser'
import { FileCompare } from '../files/FileCompare'
import { Readme } from '../files/Readme'
import { Dialogs, type Open } from '../objects/Dialogs'
import { Crumbs, MoreMenu, useObjectKeys, type MenuEntry } from '../objects/Head'
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
import type { Version } from './samples'
import { useColorOf } from './Splits'
import { StatisticsTab } from './StatisticsTab'
import type { Step } from './steps'
import { VersionAside } from './VersionAside'
import { AllVersions, StateTag } from './Versions'
import { lazyPart } from '../../app/part'

const ModelTab = lazyPart(() => import('../models/ModelTab'), 'ModelTab')
const ModelCard = lazyPart(() => import('../models/ModelCard'), 'ModelCard')
const TryTab = lazyPart(() => import('../models/TryTab'), 'TryTab')
const EvaluationsTab = lazyPart(() => import('../evaluations/EvaluationsTab'), 'EvaluationsTab')
const Deploy = lazyPart(() => import('../services/Deploy'), 'Deploy')
const TrainDrawer = lazyPart(() => import('../trainings/TrainDrawer'), 'TrainDrawer')
const VersionLabelling = lazyPart(() => import('../labelling/VersionLabelling'), 'VersionLabelling')
const AskReview = lazyPart(() => import('../labelling/PublishReview'), 'AskReview')
const ReviewNote = lazyPart(() => import('../labelling/PublishReview'), 'ReviewNote')
const LineageGraph = lazyPart(() => import('../lineage/LineageGraph'), 'LineageGraph')
const LineageFacts = lazyPart(() => import('../trainings/Lineage'), 'LineageFacts')

const dataTabs = ['samples', 'versions', 'statistics', 'labelling', 'import', 'export', 'records', 'duplicates', 'compare', 'lineage', 'activity'] as const
const fileTabs = ['files', 'versions', 'lineage', 'compare', 'activity'] as const
const modelTabs = ['model', 'try', 'evaluations', 'files', 'versions', 'lineage', 'compare', 'activity'] as const
type Tab = (typeof dataTabs)[number] | (typeof modelTabs)[number]

type Opened = Open | 'publish' | 'ask' | 'deploy' | 'train' | { preprocess: Step[] } | { set: 'edit' | 'delete' }

/** The tabs that this person sees, the one that shows the thing itself first: the samples, what a model does, or the files. */
function useTabs({ kind, parent, item, open }: Version): Tab[] {
  const { session, project, kind: byName } = useApp()
  const audit = byName('audit')
  const shown: Partial<Record<Tab, boolean>> = {
    import: open, try: may(session, 'service.invoke', project?.id), evaluations: may(session, 'evaluation.read', project?.id),
    duplicates: parent['data_type'] === 'image', activity: audit !== undefined && offers(session, audit, 'list'),
  }
  const all: readonly Tab[] = kind.name === 'dataset_version' ? dataTabs : kind.name === 'model_version' && Number(item['files']) > 0 ? modelTabs : fileTabs
  return all.filter((tab) => shown[tab] ?? true)
}

interface Next {
  may: boolean
  text: string
  run: () => void
}

/** What can be done with a version, the next sensible thing first: it is the primary button. */
function useActions(version: Version, tabs: readonly Tab[], now: Tab, open: (what: Opened) => void): Next[] {
  const { t } = useI18n()
  const { session, project } = useApp()
  const navigate = useNavigate()
  const { kind, parentKind, parent, item } = version
  const data = kind.name === 'dataset_version'
  const [samples, annotated] = [Number(item['samples']), Number(item['annotated'])]
  const has = (permission: string) => may(session, permission, project?.id)
  const filled = samples > 0
  const bring = { may: data && version.open, text: t('import.title'), run: () => void navigate('?tab=import') }
  const label = { may: data && version.open && filled, text: t('bench.label'), run: () => void navigate(`${versionUrl(parentKind, parent.id, Number(item['number']), project)}/label`) }
  const train = { may: data && filled && has('training.create') && has('training.start'), text: t('train.button'), run: () => open('train') }
  const deploy = { may: kind.name === 'model_version' && Number(item['files']) > 0 && has('service.create'), text: t('deploy.button'), run: () => open('deploy') }
  const attempt = { may: tabs.includes('try') && now !== 'try', text: t('try.title'), run: () => void navigate('?tab=try') }
  const publish = { may: version.open, text: t('publish.title'), run: () => open('publish') }
  const inTurn = !filled ? [bring] : annotated < samples ? [label, train, bring] : [train, label, bring]
  return [...(data ? inTurn : [deploy, attempt]), publish].filter((one) => one.may)
}

/** What the menu of a version offers besides. */
function useMenu({ kind, parentKind, parent, item }: Version, session: Session, inProject: number | undefined): MenuEntry[] {
  const { t, wl } = useI18n()
  const data = kind.name === 'dataset_version'
  const own = parent.project == null || parent.project.id === inProject
  const entry = (key: string, offered: boolean, label: string, danger?: boolean) => (offered ? [{ key, label, danger }] : [])
  const titled = (k: Kind) => ({ title: wl(k.title) })
  return [
    ...entry('preprocess', data && parent['data_type'] === 'image' && may(session, 'dataset_version.create', inProject) && Number(item['samples']) > 0, t('preprocess.title')),
    ...entry('edit-set', own && offers(session, parentKind, 'update', inProject), t('versions.edit', titled(parentKind))),
    ...entry('edit', offers(session, kind, 'update', inProject), t('versions.edit', titled(kind))),
    ...entry('delete', offers(session, kind, 'delete', inProject), t('versions.delete', titled(kind)), true),
    ...entry('delete-set', own && offers(session, parentKind, 'delete', inProject, parent), t('versions.delete', titled(parentKind)), true),
  ]
}

/** The page of a version, and, with its newest, of a dataset, an algorithm or a model. */
export function VersionView({ version, whole }: { version: Version; whole?: boolean }) {
  const { t, w, n } = useI18n()
  const { session, project } = useApp()
  const [params] = useSearchParams()
  const [open, setOpen] = useState<Opened | null>(params.get('open') === 'deploy' ? 'deploy' : null)
  const [editSet, deleteSet] = [useCallback(() => setOpen({ set: 'edit' }), []), useCallback(() => setOpen({ set: 'delete' }), [])]
  const { kind, parentKind, parent, item } = version
  const data = kind.name === 'dataset_version'
  const tabs = useTabs(version)
  const first = tabs[0] ?? 'files'
  const now = tabs.find((tab) => tab === params.get('tab')) ?? (params.has('path') || params.has('file') ? 'files' : first)
  const tabBar = useRef<HTMLElement>(null)
  // In braces: what browsers return from this is no way to undo it.
  useEffect(() => {
    tabBar.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [now])
  const actions = useActions(version, tabs, now, setOpen)
  const menu = useMenu(version, session, project?.id)
  const act = (key: string) => setOpen(key === 'preprocess' ? { preprocess: [] } : key === 'edit-set' ? { set: 'edit' } : key === 'delete-set' ? { set: 'delete' } : { what: key as 'edit' | 'delete', item })
  const preprocess = (steps: Step[]) => setOpen({ preprocess: steps })
  const has = (key: string) => whole === true && menu.some((one) => one.key === key)
  useObjectKeys(has('edit-set') ? editSet : null, has('delete-set') ? deleteSet : null)
  const description = item['description']
  return (
    <article className="detail">
      <Crumbs of={[{ url: listUrl(parentKind, project), title: w(parentKind.titles) }, ...(whole ? [] : [{ url: itemUrl(parentKind, parent.id, project), title: nameOf(parentKind, parent) }])]} />
      <header className="detail-head version-head">
        <h1>{nameOf(parentKind, parent)} <span className="muted">{nameOf(kind, item)}</span></h1>
        <StateTag item={item} />
        <span className="muted num version-facts">
          {data ? t('versions.samples', { n: n(Number(item['samples'])) }) : t('versions.files', { n: n(Number(item['files'])) })}
          {' · '}{formatBytes(Number(item['bytes']))}{' · '}<Time at={item.updated_at} />
        </span>
        <div className="row wrap">
          {[...actions].reverse().map((one) => <Button key={one.text} type={one === actions[0] ? 'primary' : 'default'} onClick={one.run}>{one.text}</Button>)}
          <MoreMenu entries={menu} onPick={act} />
        </div>
      </header>
      {typeof description === 'string' && description !== '' && <div className="lead"><Markdown text={description} /></div>}
      {data && <Suspense fallback={null}><ReviewNote path={version.path} item={item} name={`${nameOf(parentKind, parent)} ${nameOf(kind, item)}`} /></Suspense>}
      <nav ref={tabBar} className="tabs" aria-label={w(kind.title)}>
        {tabs.map((tab) => <Link key={tab} to={tab === first ? '?' : `?tab=${tab}`} aria-current={tab === now ? 'page' : undefined} replace>{t(tab === 'activity' ? 'object.activity' : tab === 'versions' ? 'versions.title' : `tab.${tab}`)}</Link>)}
      </nav>
      {now === first
        ? <Beside label={t('versions.about')} aside={<VersionAside version={version} />}><TabContent version={version} tab={now} whole={whole} onPreprocess={preprocess} /></Beside>
        : <TabContent version={version} tab={now} whole={whole} onPreprocess={preprocess} />}
      <VersionDialogs version={version} open={open} setOpen={setOpen} />
    </article>
  )
}

function TabContent({ version, tab, whole, onPreprocess }: { version: Version; tab: Tab; whole?: boolean; onPreprocess: (steps: Step[]) => void }) {
  const { session, project, kind: byName } = useApp()
  const colorOf = useColorOf(version)
  const audit = byName('audit')
  const { kind, parentKind, parent, item } = version
  const data = kind.name === 'dataset_version'
  const clean = data && parent['data_type'] === 'image' && may(session, 'dataset_version.create', project?.id) && Number(item['samples']) > 0
  const [what, id] = whole ? [parentKind.name, parent.id] : [kind.name, item.id]
  return (
    <Suspense fallback={tab === 'samples' ? <Skeleton as="pictures" n={12} /> : <Skeleton />}>
      {tab === 'samples' && <Gallery version={version} />}
      {tab === 'versions' && <AllVersions kind={parentKind} item={parent} />}
      {tab === 'statistics' && <StatisticsTab version={version} onPreprocess={clean ? (threshold) => onPreprocess([{ op: 'blur', threshold }]) : undefined} />}
      {tab === 'labelling' && <VersionLabelling path={version.path} colorOf={colorOf} />}
      {tab === 'import' && <ImportTab version={version} />}
      {tab === 'export' && <ExportTab version={version} />}
      {tab === 'records' && <RecordsTab version={version} />}
      {tab === 'duplicates' && <Duplicates version={version} />}
      {tab === 'compare' && (data ? <Compare version={version} /> : <FileCompare version={version} />)}
      {tab === 'lineage' && <><LineageGraph kind={kind.name} id={item.id} />{item['lineage'] !== null && typeof item['lineage'] === 'object' && <LineageFacts lineage={item['lineage'] as Lineage} />}</>}
      {tab === 'model' && <><ModelCard version={version} /><Readme version={version} /><ModelTab version={version} /></>}
      {tab === 'try' && <TryTab version={version} />}
      {tab === 'evaluations' && <EvaluationsTab version={version} />}
      {tab === 'files' && <><FileBrowser version={version} /><Readme version={version} /></>}
      {tab === 'activity' && audit && <ListView kind={audit} place={{}} fixed={`kind = ${JSON.stringify(what)} and object = ${id}`} hiddenFields={['kind', 'object', 'name', 'project']} />}
    </Suspense>
  )
}

function VersionDialogs({ version, open, setOpen }: { version: Version; open: Opened | null; setOpen: (open: Opened | null) => void }) {
  const { project } = useApp()
  const navigate = useNavigate()
  const [params] = useSearchParams()
  const { kind, parentKind, parent, item } = version
  const close = () => setOpen(null)
  const gone = (url: string | null) => void navigate(url ?? '/', { replace: true })
  // Who came to deploy, from a training's result, finds the page without that when it is loaded again.
  const closeDeploy = () => {
    close()
    if (params.has('open')) void navigate('?', { replace: true })
  }
  if (open === null) return null
  if (open === 'deploy') return <Suspense fallback={null}><Deploy version={version} onClose={closeDeploy} /></Suspense>
  if (open === 'train') return <Suspense fallback={null}><TrainDrawer version={version} onClose={close} /></Suspense>
  if (open === 'publish') return <Publish version={version} onClose={close} onAsk={kind.name === 'dataset_version' ? () => setOpen('ask') : undefined} />
  if (open === 'ask') return <Suspense fallback={null}><AskReview path={version.path} name={`${nameOf(parentKind, parent)} ${nameOf(kind, item)}`} onClose={close} /></Suspense>
  if ('preprocess' in open) return <Preprocess version={version} first={open.preprocess} onClose={close} />
  if ('set' in open) return <Dialogs kind={parentKind} place={{ project: project?.id }} open={{ what: open.set, item: parent }} onClose={close} onDeleted={() => gone(listUrl(parentKind, project))} />
  return <Dialogs kind={kind} place={{ parent: { kind: parentKind, id: parent.id } }} open={open as Open & { item: Item }} onClose={close} onDeleted={() => gone(itemUrl(parentKind, parent.id, project))} />
}
