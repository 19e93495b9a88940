import { lazy, type ComponentType } from 'react'
import type { Field, Item } from '../api/kinds'
import { lazyPart, part } from '../app/part'

// Fields whose value has a structure of its own bring their editor and their way of being shown.
export interface EditProps {
  id: string
  value: unknown
  onChange: (value: unknown) => void
  /** Tells the form that it cannot be submitted as it stands. */
  onInvalid: (reason: string | null) => void
}

export interface ShowProps {
  value: unknown
  short: boolean
  item?: Item
  /** What the field refers to. */
  refKind?: string | null
}

export interface Editor {
  Edit: ComponentType<EditProps>
  /** Left out: it is shown as any other. */
  Show?: ComponentType<ShowProps>
  /** It explains itself: the field's help, written for the API, is left out. */
  explains?: boolean
  /** Only shown in its own way; it is typed as any other. */
  generic?: boolean
  /** The form needs the width of a page. */
  wide?: boolean
}

const quota = () => import('../features/projects/Quota')
const labels = () => import('../features/label-sets/Labels')
const permissions = () => import('../features/roles/Permissions')
const audit = () => import('../features/audit/Audit')

function shownOnly(Show: NonNullable<Editor['Show']>): Editor {
  return { Edit: () => null, Show }
}

const state = shownOnly(lazyPart(() => import('../features/jobs/State'), 'StateShow'))
const reason = shownOnly(lazyPart(() => import('../features/jobs/State'), 'ReasonShow'))
const pick = () => import('../features/jobs/pick')
const spec: Editor = { Edit: lazyPart(pick, 'SpecEdit'), Show: lazyPart(pick, 'SpecShow') }
const image: Editor = { Edit: lazyPart(pick, 'ImageEdit'), Show: lazyPart(pick, 'ImageShow') }
const variables: Editor = { Edit: lazyPart(pick, 'EnvEdit'), Show: lazyPart(pick, 'EnvShow') }

const teams = () => import('../features/labelling/TeamEdit')
const teamShow = lazyPart(teams, 'TeamShow')
const selection = () => import('../features/labelling/SelectionEdit')

const registry: Record<string, Editor> = {
  'team.members': { Edit: lazyPart(teams, 'MembersEdit'), Show: lazyPart(teams, 'MembersShow') },
  'label_task.labelling_team': { Edit: lazyPart(teams, 'LabellingTeamEdit'), Show: teamShow },
  'label_task.review_team': { Edit: lazyPart(teams, 'ReviewTeamEdit'), Show: teamShow },
  'label_task.instructions': { Edit: lazyPart(() => import('../features/labelling/InstructionsEdit'), 'InstructionsEdit'), Show: lazyPart(() => import('../features/labelling/Instructions'), 'InstructionsShow'), explains: true },
  'label_task.selection': { Edit: lazyPart(selection, 'SelectionEdit'), Show: lazyPart(selection, 'SelectionShow'), explains: true, wide: true },
  'job.state': state,
  'job.reason': reason,
  'job.spec': spec,
  'job.image': image,
  'job.env': variables,
  'image.build.spec': spec,
  'image.build.env': variables,
  'image.derive.env': { Edit: lazyPart(pick, 'EnvChangeEdit'), explains: true },
  'task.name': shownOnly(lazyPart(() => import('../features/tasks/Words'), 'NameShow')),
  'task.type': shownOnly(lazyPart(() => import('../features/tasks/Words'), 'TypeShow')),
  'task.state': shownOnly(lazyPart(() => import('../features/tasks/Words'), 'TaskStateShow')),
  'job.placement': shownOnly(lazyPart(() => import('../features/jobs/State'), 'PlacementShow')),
  'node.devices': shownOnly(lazyPart(() => import('../features/jobs/State'), 'DevicesShow')),
  'environment.state': state,
  'environment.reason': reason,
  'environment.spec': spec,
  'environment.image': image,
  'training.spec': spec,
  'training.image': image,
  'training.env': variables,
  'training.parameters': { Edit: lazyPart(() => import('../features/trainings/ParametersEdit'), 'ParametersEdit'), explains: true },
  'service_version.env': variables,
  'training_instance.state': state,
  'training_instance.reason': reason,
  'service.state': state,
  'evaluation.state': state,
  'evaluation.reason': reason,
  'evaluation.figures': shownOnly(lazyPart(() => import('../features/evaluations/FiguresShow'), 'FiguresShow')),
  'node.state': state,
  'project.quota': {
    Edit: lazyPart(quota, 'QuotaEdit'),
    Show: lazyPart(quota, 'QuotaShow'),
    explains: true,
  },
  'label_set.labels': {
    Edit: lazyPart(labels, 'LabelsEdit'),
    Show: lazyPart(labels, 'LabelsShow'),
    wide: true,
  },
  'role.permissions': {
    Edit: lazyPart(permissions, 'RolePermissionsEdit'),
    Show: lazyPart(permissions, 'RolePermissionsShow'),
    wide: true,
  },
  'token.scopes': {
    Edit: lazyPart(permissions, 'TokenScopesEdit'),
    Show: lazyPart(permissions, 'TokenScopesShow'),
    wide: true,
  },
  'role.description': { ...shownOnly(lazyPart(() => import('../features/roles/Description'), 'DescriptionShow')), generic: true },
  'audit.detail': shownOnly(lazyPart(audit, 'AuditDetail')),
  'audit.verb': shownOnly(lazyPart(audit, 'AuditVerb')),
  'audit.kind': shownOnly(lazyPart(audit, 'AuditKind')),
  'audit.at': shownOnly(lazyPart(audit, 'AuditAt')),
  'audit.user': shownOnly(lazyPart(audit, 'AuditUser')),
  'audit.name': shownOnly(lazyPart(audit, 'AuditName')),
  'service.share': { ...shownOnly(lazyPart(() => import('../features/services/ShareShow'), 'ShareShow')), generic: true },
  'session.agent': shownOnly(lazyPart(() => import('../features/profile/Agent'), 'Agent')),
}

const version: Editor = { Edit: () => null, Show: lazyPart(pick, 'VersionsShow') }
const versionOf: Record<string, Editor> = Object.fromEntries(['dataset_version', 'algorithm_version', 'model_version', 'image_version'].flatMap((kind) => [
  [`ref ${kind}`, { ...version, Edit: lazy(async () => ({ default: (await part(pick)).versionEdit(kind) })) }],
  [`refs ${kind}`, { ...version, Edit: lazy(async () => ({ default: (await part(pick)).versionsEdit(kind) })) }],
]))

/** By kind and field; references to versions have one way to be chosen everywhere, but for siblings of the version itself. */
export function editorOf(kindName: string, field: Field): Editor | undefined {
  return registry[`${kindName}.${field.name}`] ?? (kindName.split('.')[0] === field.ref ? undefined : versionOf[`${field.type} ${field.ref ?? ''}`])
}
