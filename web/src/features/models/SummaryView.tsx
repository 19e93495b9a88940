import { Button } from 'antd'
import { useState } from 'react'
import { formatBytes } from '../../components/format'
import { useI18n } from '../../i18n'
import type { ModelSummary } from './ModelTab'
import { largestLayers, shapeText, short } from './summary'

type Summary = ModelSummary['summary']

function Values({ title, values }: { title: string; values: Summary['inputs'] }) {
  const { t } = useI18n()
  return (
    <section>
      <h2>{title}</h2>
      <table className="table">
        <thead><tr><th>{t('model.name')}</th><th>{t('model.type')}</th><th>{t('model.shape')}</th></tr></thead>
        <tbody>{values.map((v) => <tr key={v.name}><td><code>{v.name}</code></td><td>{v.type}</td><td className="num">{shapeText(v.shape)}</td></tr>)}</tbody>
      </table>
    </section>
  )
}

/** The figures of a model at a glance, what goes in and out, and where its size is. */
export function SummaryView({ path, summary }: { path: string; summary: Summary }) {
  const { t, n } = useI18n()
  const [all, setAll] = useState(false)
  const layers = all ? summary.layers : largestLayers(summary.layers, 12)
  const most = Math.max(1, ...layers.map((l) => l.bytes))
  const adds = summary.multiply_adds === null ? t('model.atLeast', { n: short(summary.multiply_adds_known) }) : short(summary.multiply_adds)
  const notes = [summary.nodes_unknown > 0 ? t('model.unknown', { n: n(summary.nodes_unknown) }) : '', summary.assumed_batch ? t('model.assumed') : ''].filter(Boolean).join(' ')
  return (
    <>
      <dl className="model-figures">
        <div><dt>{t('model.parameters')}</dt><dd className="num" title={n(summary.parameters)}>{short(summary.parameters)}</dd></div>
        <div><dt>{t('model.multiplyAdds')}</dt><dd className="num">{adds}{notes && <small className="muted">{notes}</small>}</dd></div>
        <div><dt>{t('model.size')}</dt><dd className="num">{formatBytes(summary.bytes)}</dd></div>
        <div><dt>{t('model.opset')}</dt><dd className="num">{Object.entries(summary.opsets).map(([domain, v]) => (domain === 'ai.onnx' ? v : `${domain} ${v}`)).join(', ')}</dd></div>
        <div><dt>{t('model.nodes')}</dt><dd className="num">{n(summary.nodes)}</dd></div>
        <div><dt>{t('model.producer')}</dt><dd>{`${summary.producer} ${summary.producer_version}`.trim() || '—'}</dd></div>
        <div><dt>{t('model.file')}</dt><dd><code>{path}</code></dd></div>
      </dl>
      <div className="model-columns">
        <Values title={t('model.inputs')} values={summary.inputs} />
        <Values title={t('model.outputs')} values={summary.outputs} />
        <section>
          <h2>{t('model.operators')}</h2>
          <ul className="model-operators">{summary.operators.map((o) => <li key={`${o.domain}/${o.name}`}><code>{o.domain ? `${o.domain}.${o.name}` : o.name}</code> <span className="muted num">{n(o.count)}</span></li>)}</ul>
        </section>
      </div>
      {layers.length > 0 && (
        <section>
          <h2>{t('model.layers')}</h2>
          <div className="table-box">
            <table className="table model-layers">
              <thead><tr><th>{t('model.name')}</th><th>{t('model.type')}</th><th className="right">{t('model.parameters')}</th><th className="right">{t('model.multiplyAdds')}</th><th className="right">{t('model.size')}</th><th aria-hidden="true" /></tr></thead>
              <tbody>
                {layers.map((l, i) => (
                  <tr key={`${l.name}-${i}`}>
                    <td><code>{l.name}</code></td><td>{l.operator}</td><td className="num right">{n(l.parameters)}</td><td className="num right">{l.multiply_adds === null ? '—' : short(l.multiply_adds)}</td><td className="num right">{formatBytes(l.bytes)}</td>
                    <td className="model-bar" aria-hidden="true"><span style={{ width: `${(100 * l.bytes) / most}%` }} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {!all && summary.layers.length > layers.length && <Button type="link" onClick={() => setAll(true)}>{t('model.layersAll', { n: n(summary.layers.length) })}</Button>}
        </section>
      )}
    </>
  )
}
