import { useQuery } from '@tanstack/react-query'
import { useApp } from '../../app/context'
import { request } from '../../api/client'
import type { Item, Kind } from '../../api/kinds'
import { useI18n, type I18n } from '../../i18n'
import type { SpecialProps } from '../objects/special'
import { granted } from '../roles/permissionModel'
import { mayOf } from './memberModel'

/** What a member's role allows, in words. */
export function MemberMay({ item }: SpecialProps) {
  const i18n = useI18n()
  const { kinds } = useApp()
  const roles = useQuery({
    queryKey: ['objects', 'role', 'grants'],
    queryFn: async ({ signal }) => (await request<{ items: Item[] }>('/roles', { query: { limit: 200 }, signal })).items,
    staleTime: 60_000,
  })
  const role = item['role'] as { id: number } | null
  const grants = roles.data?.find((r) => r.id === role?.id)?.['permissions']
  if (!Array.isArray(grants)) return null
  return <span className="wrap-cell">{wordsOf(kinds, grants as string[], i18n)}</span>
}

function wordsOf(kinds: Kind[], grants: string[], { t, w, wl }: I18n): string {
  const may = mayOf(kinds, grants)
  const names = (of: Kind[]) => of.map((k) => wl(k.titles).trim()).join(w({ en: ', ', zh: '、' }))
  const parts: string[] = []
  if (may.changesAll) parts.push(t('member.changesAll'))
  else if (may.changes.length > 0) parts.push(t('member.changes', { what: names(may.changes) }))
  if (may.looksAll && !may.changesAll) parts.push(t('member.looksAll'))
  else if (!may.looksAll && may.looks.length > 0) parts.push(t('member.looks', { what: names(may.looks) }))
  if (may.labels) parts.push(t('member.labels'))
  if (may.reviews) parts.push(t('member.reviews'))
  if (may.deletesOthers) parts.push(t('member.deletesOthers'))
  if (granted(grants, 'member', 'create')) parts.push(t('member.members'))
  if (granted(grants, 'project', 'delete')) parts.push(t('member.project'))
  return parts.length > 0 ? parts.join(w({ en: '; ', zh: '；' })) : t('member.nothing')
}
