import { formatBytes } from '../../components/format'
import { useI18n, type Key } from '../../i18n'
import type { ModelSummary } from './ModelTab'
import { shapeText, short, type Compared } from './summary'

const figureNames: Record<string, Key | undefined> = { parameters: 'model.parameters', bytes: 'model.size', nodes: 'model.nodes', multiply_adds: 'model.multiplyAdds', opset: 'model.opset' }

function figure(name: string, value: number | null): string {
  if (value === null) return '—'
  return name === 'bytes' ? formatBytes(value) : name === 'opset' ? String(value) : short(value)
}

/** What is not the same in two versions; the other one is "before". */
export function Differences({ found }: { found: ModelSummary }) {
  const { t, n } = useI18n()
  const compared = found.compare as unknown as Compared
  const figures = compared.figures.filter((f) => f.before !== f.after && figureNames[f.name])
  if (compared.same_structure) return <p className="model-same">{t('model.same')}</p>
  const values = [...compared.inputs, ...compared.outputs]
  return (
    <section className="model-differences">
      <h2>{t('model.differs')}</h2>
      <table className="table">
        <tbody>
          {figures.map((f) => <tr key={f.name}><th scope="row">{t(figureNames[f.name] as Key)}</th><td className="num">{figure(f.name, f.before)}</td><td aria-hidden="true">→</td><td className="num">{figure(f.name, f.after)}</td></tr>)}
          {values.map((v) => <tr key={v.name}><th scope="row"><code>{v.name}</code></th><td className="num">{v.before ? shapeText(v.before.shape) : '—'}</td><td aria-hidden="true">→</td><td className="num">{v.after ? shapeText(v.after.shape) : '—'}</td></tr>)}
          {compared.operators.map((o) => <tr key={o.name}><th scope="row"><code>{o.name}</code></th><td className="num">{n(o.before ?? 0)}</td><td aria-hidden="true">→</td><td className="num">{n(o.after ?? 0)}</td></tr>)}
        </tbody>
      </table>
    </section>
  )
}
