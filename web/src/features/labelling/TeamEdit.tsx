import { useQuery } from '@tanstack/react-query'
import { Select } from 'antd'
import { useApp } from '../../app/context'
import { request } from '../../api/client'
import type { Page, Ref } from '../../api/kinds'
import { listPage } from '../../api/objects'
import type { EditProps, ShowProps } from '../../components/editors'
import { RefLink } from '../../components/FieldValue'
import { isRef } from '../../components/names'
import { useI18n } from '../../i18n'
import { refsOf } from './labelling'

interface Person {
  user: Ref
  role: string
}

/** The people of the project with their roles. Whoever sees the project's members may choose among them. */
function usePeople(project: number | undefined) {
  return useQuery({
    queryKey: ['objects', 'member', 'people', project ?? 0],
    queryFn: async ({ signal }): Promise<Person[]> => {
      const page = await request<Page>(`/projects/${project}/members`, { query: { limit: 500 }, signal })
      return page.items.flatMap((m) => (isRef(m['user']) && isRef(m['role']) ? [{ user: m['user'], role: m['role'].name }] : []))
    },
    enabled: project !== undefined,
  })
}

export function MembersEdit({ id, value, onChange }: EditProps) {
  const { t } = useI18n()
  const { project } = useApp()
  const people = usePeople(project?.id)
  const chosen = refsOf(value)
  const known = people.data ?? []
  const options = [
    ...chosen.filter((one) => !known.some((p) => p.user.id === one.id)).map((one) => ({ value: one.id, label: one.name, role: '' })),
    ...known.map((p) => ({ value: p.user.id, label: p.user.name, role: p.role })),
  ]
  return (
    <Select
      id={id} mode="multiple" aria-label={t('team.members')} value={chosen.map((one) => one.id)} loading={people.isFetching} optionFilterProp="label" placeholder={t('team.choose')}
      notFoundContent={t(people.isFetching ? 'list.loading' : 'team.nobody')} options={options}
      optionRender={(option) => <span className="spec-option"><span>{option.data.label}</span><span className="muted">{option.data.role}</span></span>}
      onChange={(ids: number[]) => onChange(ids.flatMap((one) => { const found = options.find((o) => o.value === one); return found ? [{ id: found.value, name: found.label }] : [] }))}
    />
  )
}

export function MembersShow({ value, short }: ShowProps) {
  const { t, n } = useI18n()
  const people = refsOf(value)
  const shown = short ? people.slice(0, 3) : people
  if (people.length === 0) return <span className="muted">{t('value.none')}</span>
  return (
    <span className="tags">
      {shown.map((one) => <span key={one.id} className="tag">{short ? one.name : <RefLink kindName="user" value={one} />}</span>)}
      {shown.length < people.length && <span className="muted">{t('value.more', { n: n(people.length - shown.length) })}</span>}
    </span>
  )
}

/** A team of one role, and nothing else. */
function teamEdit(role: 'labelling' | 'review') {
  return function TeamEdit({ id, value, onChange }: EditProps) {
    const { t } = useI18n()
    const { kind: byName, project } = useApp()
    const kind = byName('team')
    const found = useQuery({
      queryKey: ['objects', 'team', 'choices', project?.id ?? 0, role],
      queryFn: async ({ signal }) => (kind ? (await listPage(kind, { project: project?.id }, { filter: `role = ${JSON.stringify(role)}`, limit: 200 }, signal)).items : []),
      enabled: kind !== undefined,
    })
    const now = isRef(value) ? value : null
    const teams = found.data ?? []
    const options = teams.map((team) => ({ value: team.id, label: String(team['name']), people: refsOf(team['members']).length }))
    if (now && !options.some((o) => o.value === now.id)) options.unshift({ value: now.id, label: now.name, people: 0 })
    return (
      <Select
        id={id} aria-label={t(role === 'review' ? 'labelTask.reviewTeam' : 'labelTask.labellingTeam')} value={now?.id ?? null} allowClear={role === 'review'} showSearch optionFilterProp="label" loading={found.isFetching} placeholder={t('form.choose')}
        notFoundContent={t(found.isFetching ? 'list.loading' : role === 'review' ? 'labelTask.noReviewTeam' : 'labelTask.noLabellingTeam')} options={options}
        optionRender={(option) => <span className="spec-option"><span>{option.data.label}</span><span className="muted num">{option.data.people > 0 ? t('team.people', { n: option.data.people }) : ''}</span></span>}
        onChange={(chosen: number | null | undefined) => {
          const team = options.find((o) => o.value === chosen)
          onChange(team ? { id: team.value, name: team.label } : null)
        }}
      />
    )
  }
}

export const LabellingTeamEdit = teamEdit('labelling')
export const ReviewTeamEdit = teamEdit('review')

export function TeamShow({ value }: ShowProps) {
  const { t } = useI18n()
  return isRef(value) ? <RefLink kindName="team" value={value} /> : <span className="muted">{t('value.none')}</span>
}
