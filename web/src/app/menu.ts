import type { Kind, Ref } from '../api/kinds'
import { isWorker, may, offers, type Session } from '../api/session'
import type { IconName } from '../components/Icon'
import { isKey, type I18n } from '../i18n'
import { listUrl, myTasksUrl, projectUrl } from './links'

export interface MenuEntry {
  url: string
  title: string
  icon: IconName
  kind?: Kind
}

export interface MenuGroup {
  name: string
  title: string
  entries: MenuEntry[]
}

const order = ['data', 'build', 'models', 'serve', 'market', 'admin']

const platformPages = { '/admin/resources': 'node.read', '/admin/controllers': 'platform.metrics', '/admin/log': 'platform.log', '/demo': 'demo.load' } as const

/** Whether there is anything to do in the administration but to look at what everybody may see. */
function mayAdminister(kinds: Kind[], session: Session): boolean {
  const changes = (kind: Kind) => kind.menu === 'admin' && (['create', 'update', 'delete'] as const).some((verb) => offers(session, kind, verb))
  return kinds.some(changes) || Object.values(platformPages).some((permission) => may(session, permission))
}

/** The menu: only kinds that have a page and that this person may list. */
export function menuGroups(kinds: Kind[], session: Session, project: Ref | null, { t, w }: I18n): MenuGroup[] {
  const worker = isWorker(session, project?.id)
  const administers = mayAdminister(kinds, session)
  const groups = new Map<string, MenuEntry[]>()
  for (const kind of kinds) {
    if (!kind.menu || kind.scope === 'child' || kind.scope === 'own' || worker || (kind.menu === 'admin' && !administers)) continue
    const url = listUrl(kind, project)
    if (!url || !offers(session, kind, 'list', kind.scope === 'project' ? project?.id : undefined)) continue
    const entries = groups.get(kind.menu) ?? []
    entries.push({ url, title: w(kind.titles), icon: iconOf(kind.name), kind })
    groups.set(kind.menu, entries)
  }
  if (!worker && may(session, 'service.invoke', project?.id)) (groups.get('serve') ?? []).push({ url: '/catalogue', title: t('catalogue.title'), icon: iconOf('/catalogue') })
  const titles = { '/admin/resources': t('resources.title'), '/admin/controllers': t('controllers.title'), '/admin/log': t('platformLog.title'), '/demo': t('demo.title') }
  for (const url of Object.keys(titles) as (keyof typeof titles)[]) {
    if (may(session, platformPages[url])) (groups.get('admin') ?? []).push({ url, title: titles[url], icon: iconOf(url) })
  }
  for (const entries of groups.values()) entries.sort((a, b) => place(a) - place(b))
  const names = [...groups.keys()].sort((a, b) => rank(a) - rank(b))
  const result = names.map((name): MenuGroup => {
    const key = `menu.${name}`
    return { name, title: isKey(key) ? t(key) : name, entries: groups.get(name) ?? [] }
  })
  const entries: MenuEntry[] = []
  if (project) entries.push(worker ? { url: myTasksUrl(project.name), title: t('myTasks.title'), icon: 'mark' } : { url: projectUrl(project.name), title: t('menu.overview'), icon: 'home' })
  if (session.user.administrator || session.projects.filter((p) => !isWorker(session, p.id)).length > 1) entries.push({ url: '/home', title: t('home.platform'), icon: 'cards' })
  if (entries.length > 0) result.unshift({ name: 'project', title: '', entries })
  return result
}

// In the way through the work, which is not the order of declaration; each with its icon.
const known: Record<string, IconName> = {
  dataset: 'data', label_set: 'tag', label_task: 'mark', team: 'people',
  algorithm_set: 'code', environment: 'terminal', training: 'curve', job: 'job', image: 'layers', runtime: 'chip', tool: 'dial',
  model_set: 'cube', evaluation: 'bars', service: 'cloud', '/catalogue': 'cards',
  project: 'folder', user: 'user', group: 'people', role: 'shield', spec: 'sliders', '/admin/resources': 'dial', node: 'server', node_pool: 'pool',
  audit: 'clock', '/admin/controllers': 'refresh', '/admin/log': 'lines', '/demo': 'bolt',
  task: 'activity', dataset_version: 'data', algorithm_version: 'code', model_version: 'cube', training_instance: 'curve',
}
const within = Object.keys(known)

/** Of a kind, or of a page without one by its address. */
export function iconOf(name: string): IconName {
  return known[name] ?? 'list'
}

function place(entry: MenuEntry): number {
  const i = within.indexOf(entry.kind?.name ?? entry.url)
  return i < 0 ? within.length : i
}

function rank(name: string): number {
  const i = order.indexOf(name)
  return i < 0 ? order.length : i
}
