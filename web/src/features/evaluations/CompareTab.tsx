import { useQuery } from '@tanstack/react-query'
import { Select } from 'antd'
import { Link, useSearchParams } from 'react-router'
import { useApp } from '../../app/context'
import { request } from '../../api/client'
import type { Item, Kind } from '../../api/kinds'
import { allItems, useList } from '../../api/objects'
import { isRef, nameOf } from '../../components/names'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import type { Comparison } from './evaluations'
import { useFigures } from './useFigures'
import { useTruth } from './SamplesTab'

/** Beside another evaluation on the same truth: what differs beyond chance. */
export function CompareTab({ kind, path, item }: { kind: Kind; path: string; item: Item }) {
  const { t } = useI18n()
  const { project } = useApp()
  const [params, setParams] = useSearchParams()
  const truth = isRef(item['dataset_version']) ? item['dataset_version'].id : 0
  const others = allItems(useList(kind, { project: project?.id }, { filter: `dataset_version = ${truth} and state = "completed"`, sort: '-created_at' }).data).filter((one) => one.id !== item.id)
  const other = others.find((one) => one.id === Number(params.get('with'))) ?? others[0] ?? null
  const found = useQuery({
    queryKey: ['objects', 'evaluation', 'compare', item.id, item['ended_at'], other?.id ?? 0],
    queryFn: ({ signal }) => request<Comparison>(`${path}/compare`, { query: { with: other?.id }, signal }),
    enabled: other !== null,
    retry: false,
  })
  if (!other) return <Empty title={t('evaluation.noOther')} text={t('evaluation.noOtherText')} />
  const subject = (one: Item) => ['model_version', 'service_version', 'layer'].map((name) => one[name]).find(isRef)
  const label = (one: Item) => { const of = subject(one); return of ? `${nameOf(kind, one)} (${of.of ? `${of.of.name} ${of.name}` : of.name})` : nameOf(kind, one) }
  return (
    <section className="evaluation">
      <div className="tools">
        <label htmlFor="evaluation-with">{t('compare.with')}</label>
        <Select id="evaluation-with" className="facet evaluation-other" value={other.id} options={others.map((one) => ({ value: one.id, label: label(one) }))}
          onChange={(id: number) => setParams((old) => { const next = new URLSearchParams(old); next.set('with', String(id)); return next }, { replace: true })} />
      </div>
      {found.error && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {!found.data && !found.error && <Skeleton n={2} />}
      {found.data && <Differences compared={found.data} item={item} />}
    </section>
  )
}

function Differences({ compared, item }: { compared: Comparison; item: Item }) {
  const { t, n, language } = useI18n()
  const read = useFigures()
  const signed = (name: string, value: number | null) => (value === null ? '–' : `${value > 0 ? '+' : value < 0 ? '−' : ''}${read.text(name, Math.abs(value))}`)
  return (
    <>
      {compared.words.length > 0 && <ul className="evaluation-words">{compared.words.map((s, i) => <li key={i}>{language === 'zh' ? s.zh : s.en}</li>)}</ul>}
      <div className="scroll-x">
        <table className="plain-table">
          <thead><tr><th>{t('evaluation.figure')}</th><th className="right">{t('evaluation.this')}</th><th className="right">{t('evaluation.other')}</th><th className="right">{t('evaluation.difference')}</th><th>{t('evaluation.verdict')}</th></tr></thead>
          <tbody>
            {compared.figures.map((f) => (
              <tr key={f.name} className={f.main ? 'strong' : undefined}>
                <td>{read.title(f.name)}</td><td className="right num">{read.text(f.name, f.value)}</td><td className="right num">{read.text(f.name, f.with)}</td>
                <td className="right num">{signed(f.name, f.difference)}{f.low !== null && f.high !== null && <span className="muted"> ({signed(f.name, f.low)} … {signed(f.name, f.high)})</span>}</td>
                <td><span className={`verdict verdict-${f.verdict}`}>{t(`evaluation.verdict.${f.verdict}` as 'evaluation.verdict.better')}</span></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="num">{t('evaluation.agree', { n: n(compared.agree), of: n(compared.samples) })}</p>
      <div className="evaluation-changed">
        <Changed title={t('evaluation.fixed', { n: n(compared.fixed.count) })} samples={compared.fixed.samples} item={item} />
        <Changed title={t('evaluation.broken', { n: n(compared.broken.count) })} samples={compared.broken.samples} item={item} />
      </div>
      {compared.labels.length > 0 && (
        <section className="block">
          <h2>{t('evaluation.labels')}</h2>
          <div className="scroll-x">
            <table className="plain-table">
              <thead><tr><th>{t('evaluation.label')}</th>{(['precision', 'recall', 'f1'] as const).map((name) => <th key={name} className="right">{read.title(name)}</th>)}</tr></thead>
              <tbody>
                {compared.labels.map((row) => (
                  <tr key={row.label}>
                    <td>{row.label}</td>
                    {(['precision', 'recall', 'f1'] as const).map((name) => <td key={name} className="right num">{read.text(name, row[name].value)} <span className="muted">{signed(name, row[name].difference)}</span></td>)}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
    </>
  )
}

function Changed({ title, samples, item }: { title: string; samples: Comparison['fixed']['samples']; item: Item }) {
  const truth = useTruth(item)
  return (
    <section className="block">
      <h2>{title}</h2>
      <ul>{samples.slice(0, 20).map((s) => <li key={s.sample}>{truth ? <Link to={`${truth.url}?sample=${s.sample}`}>{s.file}</Link> : s.file}</li>)}</ul>
    </section>
  )
}
