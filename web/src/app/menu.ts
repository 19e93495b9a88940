import type { Kind, Ref } from '../api/kinds'
import { isWorker, may, offers, type Session } from '../api/session'
import { isKey, type I18n } from '../i18n'
import { listUrl, myTasksUrl, projectUrl } from './links'

export interface MenuEntry {
  url: string
  title: string
  kind?: Kind
}

export interface MenuGroup {
  name: string
  title: string
  entries: MenuEntry[]
}

const order = ['data', 'build', 'models', 'serve', 'market', 'admin']

/** The menu: only kinds that have a page and that this person may list. */
export function menuGroups(kinds: Kind[], session: Session, project: Ref | null, { t, w }: I18n): MenuGroup[] {
  const worker = isWorker(session, project?.id)
  const groups = new Map<string, MenuEntry[]>()
  for (const kind of kinds) {
    if (!kind.menu || kind.scope === 'child' || kind.scope === 'own' || worker) continue
    const url = listUrl(kind, project)
    if (!url || !offers(session, kind, 'list', kind.scope === 'project' ? project?.id : undefined)) continue
    const entries = groups.get(kind.menu) ?? []
    entries.push({ url, title: w(kind.titles), kind })
    groups.set(kind.menu, entries)
  }
  if (!worker && may(session, 'service.invoke', project?.id)) (groups.get('serve') ?? []).push({ url: '/catalogue', title: t('catalogue.title') })
  if (may(session, 'node.read')) (groups.get('admin') ?? []).push({ url: '/admin/resources', title: t('resources.title') })
  if (may(session, 'platform.metrics')) (groups.get('admin') ?? []).push({ url: '/admin/controllers', title: t('controllers.title') })
  if (may(session, 'platform.log')) (groups.get('admin') ?? []).push({ url: '/admin/log', title: t('platformLog.title') })
  for (const entries of groups.values()) entries.sort((a, b) => place(a) - place(b))
  const names = [...groups.keys()].sort((a, b) => rank(a) - rank(b))
  const result = names.map((name): MenuGroup => {
    const key = `menu.${name}`
    return { name, title: isKey(key) ? t(key) : name, entries: groups.get(name) ?? [] }
  })
  if (project) result.unshift({ name: 'project', title: '', entries: [worker ? { url: myTasksUrl(project.name), title: t('myTasks.title') } : { url: projectUrl(project.name), title: t('menu.overview') }] })
  return result
}

// Where the order of declaration is not the way through the work.
const within = ['dataset', 'label_set', 'label_task', 'team', 'algorithm_set', 'environment', 'training', 'job', 'image', 'runtime', 'model_set', 'service', '/catalogue', 'project', 'user', 'group', 'role', 'spec', '/admin/resources', 'node', 'node_pool', 'audit', '/admin/controllers', '/admin/log']

function place(entry: MenuEntry): number {
  const i = within.indexOf(entry.kind?.name ?? entry.url)
  return i < 0 ? within.length : i
}

function rank(name: string): number {
  const i = order.indexOf(name)
  return i < 0 ? order.length : i
}
