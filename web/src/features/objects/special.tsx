import { Suspense, type ComponentType } from 'react'
import type { Item, Kind } from '../../api/kinds'
import type { Place } from '../../api/objects'
import type { Values } from '../../components/merge'
import { Skeleton } from '../../components/States'
import type { Key } from '../../i18n'
import type { RowsProps } from './rows'
import { lazyPart, part } from '../../app/part'

// What some kinds show instead of the generic overview, or instead of the generic list of their children.
export interface SpecialProps {
  kind: Kind
  item: Item
}

type Registry = Record<string, ComponentType<SpecialProps> | undefined>

/** A page of its own instead of the generic one. */
export interface PageProps extends SpecialProps {
  place: Place
}

const SetPage = lazyPart(() => import('../datasets/SetPage'), 'SetPage')

export const pages: Record<string, ComponentType<PageProps> | undefined> = {
  job: lazyPart(() => import('../jobs/JobPage'), 'JobPage'),
  environment: lazyPart(() => import('../environments/EnvironmentPage'), 'EnvironmentPage'),
  training: lazyPart(() => import('../trainings/TrainingPage'), 'TrainingPage'),
  service: lazyPart(() => import('../services/ServicePage'), 'ServicePage'),
  label_task: lazyPart(() => import('../labelling/TaskPage'), 'TaskPage'),
  dataset: SetPage,
  algorithm_set: SetPage,
  model_set: SetPage,
  evaluation: lazyPart(() => import('../evaluations/EvaluationPage'), 'EvaluationPage'),
}

/** Part of a form that is no field. */
export interface FormNoteProps {
  values: Values
  place: Place
  /** Takes values over into the form. */
  onValues: (values: Values) => void
}

/** By kind; `new.` before it: only where one is made. */
export const formNotes: Record<string, ComponentType<FormNoteProps> | undefined> = { 'new.dataset': lazyPart(() => import('../datasets/NewFiles'), 'NewFiles') }

const Forecast = lazyPart(() => import('../jobs/Forecast'), 'ForecastNote')
/** Beside the fields of a form, by kind, or by kind and action; `new.` before it: only where one is made. What the values as they stand would mean. */
export const formAsides: Record<string, ComponentType<FormNoteProps> | undefined> = { 'new.environment': lazyPart(() => import('../tools/EnvironmentNote'), 'EnvironmentNote'), job: Forecast, environment: Forecast, training: Forecast, service_version: Forecast, 'image.build': Forecast }

/** Dialogs of their own instead of the generic form of an action; by kind and action. */
export interface ActionFormProps {
  item: Item
  onClose: () => void
}

export const actionForms: Record<string, ComponentType<ActionFormProps> | undefined> = {
  'environment.save': lazyPart(() => import('../environments/SaveImage'), 'SaveImage'),
  'environment.keep': lazyPart(() => import('../environments/KeepVersion'), 'KeepVersion'),
  'label_set.rename-label': lazyPart(() => import('../label-sets/RenameDialog'), 'RenameDialog'),
  'label_set.merge-labels': lazyPart(() => import('../label-sets/RenameDialog'), 'MergeLabelsDialog'),
}

const lastRun = () => import('../trainings/LastRun')

const duration = (after: string) => ({ title: 'object.duration' as const, after, Cell: lazyPart(() => import('../runs/cells'), 'DurationCell') })

/** Columns of a list that are no fields of their kind; they stand after the second, or after one of the kind's. */
export const extraColumns: Record<string, { title: Key; after?: string; Cell: ComponentType<SpecialProps> }[] | undefined> = {
  job: [duration('started_at')],
  task: [duration('ended_at')],
  evaluation: [duration('figures')],
  label_task: [{ title: 'labelTask.progress', Cell: lazyPart(() => import('../labelling/TaskBar'), 'ProgressCell') }],
  training: [
    { title: 'runs.main', Cell: lazyPart(lastRun, 'MainMetricCell') },
    { title: 'runs.lastRun', Cell: lazyPart(lastRun, 'LastRunCell') },
  ],
  member: [{ title: 'member.may', Cell: lazyPart(() => import('../projects/MemberMay'), 'MemberMay') }],
  environment: [{ title: 'tool.title', Cell: lazyPart(() => import('../environments/Tools'), 'ToolsCell') }],
}

const runs = () => import('../runs/RunsPage')
/** Beside the heading of a list: which of several lists this is. */
export const choiceOf: Record<string, ComponentType | undefined> = { training: lazyPart(runs, 'TrainingsChoice') }

const demoOffer = () => import('../demo/DemoOffer')

/** Above a list that nothing was put into yet. */
export const offerOf: Record<string, ComponentType | undefined> = { project: lazyPart(demoOffer, 'DemoOffer') }

/** Lists that can also be looked at as cards of their own. */
export const cardsOf: Record<string, ComponentType<RowsProps> | undefined> = { dataset: lazyPart(() => import('../datasets/DatasetCards'), 'DatasetCards') }

/** By the kind whose page it is. */
export const overviews: Registry = {
  image: lazyPart(() => import('../images/ImageOverview'), 'ImageOverview'),
  task: lazyPart(() => import('../tasks/TaskView'), 'TaskOverview'),
  runtime: lazyPart(() => import('../runtimes/RuntimeOverview'), 'RuntimeOverview'),
  tool: lazyPart(() => import('../tools/ToolOverview'), 'ToolOverview'),
}

/** Instead of the fields, on the general page with its buttons. */
export const insteadOfFacts: Registry = {
  node: lazyPart(() => import('../resources/NodePage'), 'NodePage'),
}

/** What stands below the fields of a kind whose page is the general one. */
export const belowFacts: Registry = {
  label_set: lazyPart(() => import('../label-sets/ExamplesTab'), 'LabelExamples'),
}

/** What follows when one was made, before its page is opened; where on that page. */
export const afterCreate: Record<string, ((made: { kind: Kind; kinds: Kind[]; item: Item; project: number; url: string }) => Promise<string>) | undefined> = {
  dataset: async ({ kind, kinds, item, project, url }) => {
    const versions = kinds.find((k) => k.scope === 'child' && k.parent === kind.name && k.plural === 'versions')
    const { bringChosen } = await part(() => import('../datasets/firstFiles'))
    if (versions) await bringChosen({ kind: versions, parentKind: kind, parent: item, project, url: (number) => `${url}/v/${number}` })
    return `${url}?tab=import`
  },
}

export function Special({ registry, name, ...props }: SpecialProps & { registry: Registry; name: string }) {
  const Component = registry[name]
  return Component ? <Suspense fallback={<Skeleton n={2} />}><Component {...props} /></Suspense> : null
}
