import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Select, Slider } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { Chart } from '../../components/Chart'
import { useDebounced } from '../../components/hooks'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { Confusion } from './Confusion'
import { cellName, type At, type Report } from './evaluations'
import { useFigures } from './useFigures'
import { LabelTable } from './LabelTable'
import { latencyOf } from './latency'
import { LatencyText } from './LatencyText'

export function useReport(path: string, item: Item) {
  return useQuery({
    queryKey: ['objects', 'evaluation', 'report', item.id, item['ended_at']],
    queryFn: ({ signal }) => request<Report>(`${path}/report`, { signal }),
    staleTime: Infinity,
  })
}

/** How good, in words first; then figures with their intervals, and what changes with the least score. */
export function ReportTab({ path, item }: { path: string; item: Item }) {
  const found = useReport(path, item)
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton />
  return <Shown path={path} report={found.data} item={item} />
}

function Shown({ path, report, item }: { path: string; report: Report; item: Item }) {
  const { t, n, language } = useI18n()
  const read = useFigures()
  const [score, setScore] = useState(report.score)
  const asked = useDebounced(score, 80)
  const scored = report.curves.length > 0
  const at = useQuery({
    queryKey: ['objects', 'evaluation', 'at', item.id, item['ended_at'], asked],
    queryFn: ({ signal }) => request<At>(`${path}/at`, { query: { score: asked }, signal }),
    enabled: scored && asked !== report.score,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  })
  const now = score === report.score || !at.data ? report : at.data
  const cells = now.cells ?? []
  return (
    <div className="evaluation">
      {report.words.length > 0 && <ul className="evaluation-words">{report.words.map((s, i) => <li key={i}>{language === 'zh' ? s.zh : s.en}</li>)}</ul>}
      <Figures report={report} item={item} />
      <Notes report={report} />
      {scored && (
        <section className="block">
          <h2>{t('evaluation.threshold')}</h2>
          <div className="evaluation-threshold">
            <Slider min={0} max={1} step={0.01} value={score} onChange={setScore} ariaLabelForHandle={t('evaluation.threshold')} />
            <span className="num">{n(score, 2)}</span>
            {score !== report.score && <button type="button" className="link" onClick={() => setScore(report.score)}>{t('evaluation.reset', { score: n(report.score, 2) })}</button>}
          </div>
          <p className="num">{t('evaluation.at', {
            precision: read.text('precision', now.total.precision), recall: read.text('recall', now.total.recall), f1: read.text('f1', now.total.f1),
            hits: n(now.total.hits), mistakes: n(now.total.mistakes), missed: n(now.total.missed),
          })}</p>
          <p>
            <Link to="?tab=samples&kind=missed">{t('evaluation.seeMissed')}</Link> · <Link to="?tab=samples&kind=mistake">{t('evaluation.seeMistakes')}</Link>
          </p>
        </section>
      )}
      {now.labels.length > 0 && <section className="block"><h2>{t('evaluation.labels')}</h2><LabelTable labels={now.labels} /></section>}
      {cells.length > 0 && (
        <section className="block">
          <h2>{t('evaluation.confusion')}</h2>
          <Confusion cells={cells} to={(truth, found) => `?tab=samples&cell=${encodeURIComponent(cellName(truth, found))}`} />
        </section>
      )}
      {scored && <Curves report={report} />}
      <Slices report={report} />
    </div>
  )
}

function Figures({ report, item }: { report: Report; item: Item }) {
  const { t, n } = useI18n()
  const read = useFigures()
  const latency = latencyOf(item)
  return (
    <section className="block">
      <h2>{t('evaluation.figures')}</h2>
      <dl className="evaluation-figures">
        {report.figures.filter((f) => f.value !== null).map((f, i) => (
          <div key={f.name} className={i === 0 ? 'first' : undefined}>
            <dt>{read.title(f.name)}</dt>
            <dd className="num">{read.text(f.name, f.value)}</dd>
            {f.low !== null && f.high !== null && <dd className="muted num" title={t('evaluation.interval')}>{read.text(f.name, f.low)} – {read.text(f.name, f.high)}</dd>}
          </div>
        ))}
      </dl>
      <p className="muted">{t('evaluation.intervalHint', { n: n(report.samples) })}</p>
      {latency && <p>{t('evaluation.latency')}: <LatencyText latency={latency} /></p>}
    </section>
  )
}

/** What the figures do not have in them. */
function Notes({ report }: { report: Report }) {
  const { t, n } = useI18n()
  const notes = [
    report.unlabelled > 0 && t('evaluation.unlabelled', { n: n(report.unlabelled) }),
    report.machine > 0 && t('evaluation.machine', { n: n(report.machine) }),
    report.left_out > 0 && t('evaluation.leftOut', { n: n(report.left_out) }),
    report.unmatched.truth.length > 0 && t('evaluation.unknown', { labels: report.unmatched.truth.slice(0, 8).join(', ') }),
    report.unmatched.model.length > 0 && t('evaluation.unseen', { labels: report.unmatched.model.slice(0, 8).join(', '), n: n(report.unmatched.model.length) }),
  ].filter((note) => note !== false)
  return (
    <>
      {notes.length > 0 && <ul className="note">{notes.map((note) => <li key={note}>{note}</li>)}</ul>}
      {report.failed > 0 && (
        <details className="note note-error">
          <summary>{t('evaluation.failed', { n: n(report.failed) })}</summary>
          <ul>{report.problems.map((p) => <li key={p.file}><code>{p.file}</code> {p.error}</li>)}</ul>
        </details>
      )}
    </>
  )
}

const everything = ''

function Curves({ report }: { report: Report }) {
  const { t, n } = useI18n()
  const [label, setLabel] = useState(everything)
  const [at, setAt] = useState<number | null>(null)
  const curve = report.curves.find((c) => (c.label ?? everything) === label) ?? report.curves[0]
  if (!curve) return null
  const share = (v: number) => `${n(100 * v, 0)}%`
  const points = (list: readonly (readonly number[])[]) => list.map((p) => [100 * (p[0] ?? 0), p[1] ?? null] as const).sort((a, b) => a[0] - b[0])
  const common = { from: 0, to: 100, gap: Infinity, time: false, format: share, at, onAt: setAt, limit: undefined, height: 200 }
  const bins = report.calibration.filter((b) => b.count > 0 && b.score !== null && b.right !== null)
  return (
    <section className="block">
      <h2>{t('evaluation.curves')}</h2>
      <Select className="facet" aria-label={t('evaluation.curvesOf')} value={curve.label ?? everything} onChange={setLabel}
        options={report.curves.map((c) => ({ value: c.label ?? everything, label: c.label ?? t('evaluation.allLabels') }))} showSearch optionFilterProp="label" />
      <div className="charts">
        <Chart {...common} title={t('evaluation.precisionByRecall')} series={[{ name: t('evaluation.precision'), points: points(curve.precision) }]} />
        {curve.roc && <Chart {...common} title={t('evaluation.roc')} series={[{ name: 'ROC', points: points(curve.roc) }]} />}
        {bins.length > 1 && (
          <Chart {...common} title={t('evaluation.calibration')} series={[
            { name: t('evaluation.right'), points: bins.map((b) => [100 * (b.score ?? 0), b.right] as const) },
            { name: t('evaluation.ideal'), points: [[0, 0], [100, 1]] },
          ]} />
        )}
      </div>
    </section>
  )
}

function Slices({ report }: { report: Report }) {
  const { t, n } = useI18n()
  const read = useFigures()
  const names = [...new Set(report.slices.flatMap((s) => Object.keys((s.figures ?? {}) as Record<string, unknown>)))].slice(0, 4)
  if (report.slices.length === 0 && report.sizes.length === 0) return null
  return (
    <section className="block">
      <h2>{t('evaluation.slices')}</h2>
      {report.sizes.length > 0 && (
        <table className="plain-table">
          <thead><tr><th>{t('evaluation.size')}</th><th className="right">{t('evaluation.truths')}</th><th className="right">{t('evaluation.found')}</th><th className="right">{t('evaluation.recall')}</th></tr></thead>
          <tbody>{report.sizes.map((s) => <tr key={s.size}><td>{t(`evaluation.size.${s.size}` as 'evaluation.size.small')}</td><td className="right num">{n(s.truths)}</td><td className="right num">{n(s.hits)}</td><td className="right num">{read.text('recall', s.recall)}</td></tr>)}</tbody>
        </table>
      )}
      {report.slices.length > 0 && (
        <table className="plain-table">
          <thead><tr><th>{t('evaluation.slice')}</th><th className="right">{t('evaluation.samples')}</th>{names.map((name) => <th key={name} className="right">{read.title(name)}</th>)}</tr></thead>
          <tbody>
            {report.slices.map((s) => (
              <tr key={`${s.by}/${s.name ?? ''}/${s.value}`}>
                <td><span className="muted">{s.name ?? t(`evaluation.by.${s.by}` as 'evaluation.by.split')}</span> {s.value}</td>
                <td className="right num">{n(s.samples)}</td>
                {names.map((name) => <td key={name} className="right num">{read.text(name, (s.figures as Record<string, number | null> | null)?.[name])}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
