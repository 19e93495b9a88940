import { Link } from 'react-router'
import { useI18n } from '../../i18n'
import { matrixOf, type Cell } from './evaluations'

const most = 20

/** What is taken for what: a row per true label, a column per found one; a cell leads to its samples. */
export function Confusion({ cells, to }: { cells: readonly Cell[]; to: (truth: string | null, found: string | null) => string }) {
  const { t, n } = useI18n()
  const matrix = matrixOf(cells, most)
  const name = (label: string | null) => label ?? t('evaluation.nothing')
  return (
    <>
      <div className="scroll-x" tabIndex={0} role="group" aria-label={t('evaluation.confusion')}>
        <table className="confusion">
          <thead>
            <tr>
              <th scope="col"><span className="muted">{t('evaluation.trueDown')}</span></th>
              {matrix.columns.map((found) => <th key={found ?? ''} scope="col" className={found === null ? 'muted' : undefined}><span title={name(found)}>{name(found)}</span></th>)}
            </tr>
          </thead>
          <tbody>
            {matrix.rows.map((truth) => (
              <tr key={truth ?? ''}>
                <th scope="row" className={truth === null ? 'muted' : undefined}><span title={name(truth)}>{name(truth)}</span></th>
                {matrix.columns.map((found) => {
                  const count = matrix.count(truth, found)
                  const share = count / Math.max(1, matrix.sum(truth))
                  return (
                    <td key={found ?? ''} className={truth === found ? 'right-one' : 'wrong-one'} style={{ ['--share' as string]: `${Math.round(8 + 62 * share)}%` }} data-some={count > 0}>
                      {count > 0 && <Link to={to(truth, found)} title={t('evaluation.cell', { truth: name(truth), found: name(found), n: n(count) })}>{n(count)}</Link>}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {matrix.more > 0 && <p className="muted">{t('evaluation.moreLabels', { n: n(matrix.more) })}</p>}
    </>
  )
}
