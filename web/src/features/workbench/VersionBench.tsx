import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { useParams, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { versionUrl } from '../../app/links'
import { NotFoundPage, ProblemPage } from '../../app/pages'
import type { Ref } from '../../api/kinds'
import { lasting, useItem } from '../../api/objects'
import { offers } from '../../api/session'
import type { AnnotationType } from '../../canvas'
import { nameOf } from '../../components/names'
import { useI18n } from '../../i18n'
import { colorsOf, thumbnailUrl, useStatistics, useVersionNumber, type SampleFilter, type Version } from '../datasets/samples'
import { exampleKey, listExamples, pictureOf } from '../label-sets/examples'
import { UseAsExample } from '../label-sets/UseAsExample'
import type { BenchStore } from './bench'
import { BenchPage } from './BenchPage'
import { Filter } from './Filter'
import { labelsOf, withFound } from './labels'
import { useVersionSource } from './source'
import { useBench, useBenchState } from './useBench'

/** The workbench over a version, without a task: for whoever may change it. A published one can be looked at. */
export function VersionBench() {
  const { id, number } = useParams()
  const { kind: byName, session, project } = useApp()
  const parentKind = byName('dataset')
  const kind = byName('dataset_version')
  const parent = useItem(parentKind, { project: project?.id }, Number(id))
  const found = useVersionNumber(kind, parentKind, Number(id), Number(number))
  const may = kind !== undefined && offers(session, kind, 'update', project?.id)
  const version = useMemo<Version | null>(() => {
    if (!kind || !parentKind || !parent.data || !found.data) return null
    const draft = found.data['state'] !== 'published' && found.data['state'] !== 'publishing'
    return { kind, parentKind, parent: parent.data, item: found.data, path: `/datasets/${parent.data.id}/versions/${found.data.id}`, open: may && draft, may }
  }, [kind, parentKind, parent.data, found.data, may])
  const error = lasting(parent) ?? lasting(found)
  if (error) return <ProblemPage error={error} onRetry={() => void (parent.error ? parent.refetch() : found.refetch())} />
  if (found.data === null) return <NotFoundPage />
  return version && <Loaded key={version.item.id} version={version} />
}

/** In the panel of examples: one more, of the picture that is open. */
function OpenAsExample({ bench, version, labelSet }: { bench: BenchStore; version: Version; labelSet: Ref }) {
  const sample = useBenchState(bench, (s) => s.sample)
  const label = useBenchState(bench, (s) => s.label)
  return sample && <UseAsExample labelSet={labelSet} sample={{ version: version.item.id, id: sample.id, url: thumbnailUrl(version.path, sample, 256), label }} />
}

function Loaded({ version }: { version: Version }) {
  const { session, project, kind: byName } = useApp()
  const [params, setParams] = useSearchParams()
  const set = version.parent['label_set'] as Ref | null
  const found = useItem(byName('label_set'), { project: project?.id }, set?.id ?? NaN, set !== null)
  const examples = useQuery({ queryKey: exampleKey(set?.id ?? 0), queryFn: ({ signal }) => listExamples(set?.id ?? 0, signal), enabled: set !== null })
  const statistics = useStatistics(version)
  const given = found.data?.['labels']
  const colorOf = useMemo(() => colorsOf(given), [given])
  const names = statistics.data?.labels.map((l) => l.label).join('\n')
  const labels = useMemo(() => withFound(labelsOf(given, examples.data, (example) => pictureOf(set?.id ?? 0, example)), names ? names.split('\n') : [], colorOf), [given, examples.data, set?.id, names, colorOf])
  const [q, state, label] = ['q', 'state', 'label'].map((name) => params.get(name) ?? '')
  const filter = useMemo<SampleFilter>(() => ({ ...(q && { q }), ...(state && { state }), ...(label && { label }) }), [q, state, label])
  const onOpen = useCallback((id: number) => setParams((old) => {
    const next = new URLSearchParams(old)
    next.set('sample', String(id))
    return next
  }, { replace: true }), [setParams])
  const source = useVersionSource(version, filter)
  const { n } = useI18n()
  // The first of those that are left is shown.
  const onFilter = useCallback((part: Record<string, string | null>) => setParams((old) => {
    const next = new URLSearchParams(old)
    for (const [name, value] of Object.entries({ ...part, sample: null })) {
      if (value === null) next.delete(name)
      else next.set(name, value)
    }
    return next
  }, { replace: true }), [setParams])
  const bench = useBench(session.user.id, {
    path: version.path, type: String(version.parent['annotation_type']) as AnnotationType, dataType: String(version.parent['data_type']) as 'image', readOnly: !version.open, colorOf, onOpen,
  })
  const addExample = useMemo(() => bench && set && bench.dataType === 'image' && <OpenAsExample bench={bench} version={version} labelSet={set} />, [bench, set, version])
  const waits = set !== null && found.isPending
  if (!bench || waits) return <div className="bench" aria-busy="true" />
  return (
    <BenchPage
      bench={bench} source={source} labels={labels} mayAdd={set === null} title={`${nameOf(version.parentKind, version.parent)} ${nameOf(version.kind, version.item)}`}
      backUrl={versionUrl(version.parentKind, version.parent.id, Number(version.item['number']), project)} instructions={null} filter={<Filter filter={filter} statistics={statistics.data} count={source.film.exact ? n(source.film.count) : `${n(source.film.count)}+`} onChange={onFilter} />} addExample={addExample} openId={Number(params.get('sample')) || null} task={null}
    />
  )
}
