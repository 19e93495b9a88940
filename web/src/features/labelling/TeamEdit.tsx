import { useQuery } from '@tanstack/react-query'
import { Select } from 'antd'
import { useApp } from '../../app/context'
import { request, type Schema } from '../../api/client'
import type { Ref } from '../../api/kinds'
import { listPage } from '../../api/objects'
import type { EditProps, ShowProps } from '../../components/editors'
import { RefLink } from '../../components/FieldValue'
import { isRef } from '../../components/names'
import { useI18n } from '../../i18n'
import { refsOf } from './labelling'

/** The people of the project who may do something. Whoever sees the project's members may choose among them. */
export function usePeople(permission: string | null) {
  const { project } = useApp()
  return useQuery({
    queryKey: ['objects', 'member', 'people', project?.id ?? 0, permission],
    queryFn: async ({ signal }) => (await request<Schema<'ProjectPeople'>>(`/projects/${project?.id ?? 0}/people`, { query: { permission }, signal })).items,
    enabled: project !== null,
  })
}

interface PeopleProps {
  id: string
  label: string
  permission: string
  value: Ref[]
  onChange: (value: Ref[]) => void
}

/** Some people of the project, with their roles beside them. */
export function PeopleSelect({ id, label, permission, value, onChange }: PeopleProps) {
  const { t } = useI18n()
  const people = usePeople(permission)
  const known = people.data ?? []
  const options = [
    ...value.filter((one) => !known.some((p) => p.id === one.id)).map((one) => ({ value: one.id, label: one.name, note: '' })),
    ...known.map((p) => ({ value: p.id, label: p.name, note: [p.display_name, p.roles.join(', ')].filter(Boolean).join(' · ') })),
  ]
  return (
    <Select
      id={id} mode="multiple" aria-label={label} value={value.map((one) => one.id)} loading={people.isFetching} optionFilterProp="label" placeholder={t('team.choose')}
      notFoundContent={t(people.isFetching ? 'list.loading' : 'team.nobody')} options={options}
      optionRender={(option) => <span className="spec-option"><span>{option.data.label}</span><span className="muted">{option.data.note}</span></span>}
      onChange={(ids: number[]) => onChange(ids.flatMap((one) => options.filter((o) => o.value === one).map((o) => ({ id: o.value, name: o.label }))))}
    />
  )
}

export function MembersEdit({ id, value, onChange }: EditProps) {
  const { t } = useI18n()
  return <PeopleSelect id={id} label={t('team.members')} permission="annotation.update" value={refsOf(value)} onChange={onChange} />
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
