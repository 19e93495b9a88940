import { useQuery } from '@tanstack/react-query'
import { Checkbox } from 'antd'
import { useMemo } from 'react'
import { useApp } from '../../app/context'
import { request } from '../../api/client'
import type { Words } from '../../api/kinds'
import type { EditProps, ShowProps } from '../../components/editors'
import { ErrorState } from '../../components/States'
import { isKey, useI18n } from '../../i18n'
import { everything, granted, implied, toggle, unknown, type Permission } from './permissionModel'

const common = ['read', 'create', 'update', 'delete']

interface Entry extends Permission {
  title: Words
}

function usePermissions() {
  return useQuery({
    queryKey: ['permissions'],
    queryFn: async () => (await request<{ items: Entry[] }>('/permissions')).items,
    staleTime: Infinity,
  })
}

/** "Task: Cancel" is a kind and a verb. */
function split(title: string): [string, string] {
  const [kind = '', ...verb] = title.split(/: |：/)
  return [kind, verb.join(': ')]
}

interface MatrixProps {
  id?: string
  grants: readonly string[]
  onChange?: (grants: string[]) => void
}

/** Kinds against verbs. Without onChange it only shows. */
function Matrix({ id, grants, onChange }: MatrixProps) {
  const { t, w, wl } = useI18n()
  const { kind: byName } = useApp()
  const table = usePermissions()
  const kinds = useMemo(() => [...new Set((table.data ?? []).map((p) => p.kind))], [table.data])
  if (table.error) return <ErrorState error={table.error} onRetry={() => void table.refetch()} />
  if (!table.data) return <div className="editor-loading" aria-busy="true" />
  const kindTitle = (name: string) => {
    const kind = byName(name)
    const parent = kind?.parent ? byName(kind.parent) : undefined
    if (kind) return parent ? t('permissions.cell', { kind: w(parent.title), verb: wl(kind.titles) }) : w(kind.titles)
    return split(w(table.data.find((p) => p.kind === name)?.title))[0] || name
  }
  const verbTitle = (verb: string) => {
    const key = `permissions.${verb}`
    return isKey(key) ? t(key) : verb
  }
  const verbOf = (p: Entry) => split(w(p.title))[1] || p.verb
  const box = (kind: string, verb: string, label: string, text?: string) => {
    const name = kind === '*' && verb === '*' ? everything : `${kind}.${verb}`
    const by = name === everything ? false : implied(grants, kind, verb)
    return (
      <Checkbox
        id={name === everything ? id : undefined} aria-label={label} title={by ? t('permissions.implied') : name}
        checked={name === everything ? grants.includes(everything) || grants.includes('*.*') : granted(grants, kind, verb)}
        disabled={!onChange || by} onChange={(e) => onChange?.(toggle(grants, name, e.target.checked))}
      >
        {text}
      </Checkbox>
    )
  }
  const strange = unknown(grants, table.data)
  return (
    <div className="matrix-box">
      <table className="matrix">
        <thead>
          <tr>
            <th scope="col">{t('permissions.kind')}</th>
            <th scope="col">{t('permissions.all')}</th>
            {common.map((verb) => <th key={verb} scope="col">{verbTitle(verb)}</th>)}
            <th scope="col">{t('permissions.other')}</th>
          </tr>
        </thead>
        <tbody>
          <tr className="matrix-every">
            <th scope="row">{t('permissions.everyKind')}</th>
            <td>{box('*', '*', t('permissions.all'))}</td>
            {common.map((verb) => <td key={verb}>{box('*', verb, t('permissions.cell', { kind: t('permissions.everyKind'), verb: verbTitle(verb) }))}</td>)}
            <td />
          </tr>
          {kinds.map((kind) => {
            const own = table.data.filter((p) => p.kind === kind)
            return (
              <tr key={kind}>
                <th scope="row" title={kind}>{kindTitle(kind)}</th>
                <td>{box(kind, '*', t('permissions.allOf', { kind: kindTitle(kind) }))}</td>
                {common.map((verb) => <td key={verb}>{own.some((p) => p.verb === verb) && box(kind, verb, t('permissions.cell', { kind: kindTitle(kind), verb: verbTitle(verb) }))}</td>)}
                <td className="matrix-other">
                  {own.filter((p) => !common.includes(p.verb)).map((p) => (
                    <div key={p.name}>{box(kind, p.verb, t('permissions.cell', { kind: kindTitle(kind), verb: verbOf(p) }), verbOf(p))}</div>
                  ))}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {strange.length > 0 && <p className="muted">{t('permissions.unknown')}: {strange.map((g) => <code key={g}>{g} </code>)}</p>}
    </div>
  )
}

const asTexts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

export function RolePermissionsEdit({ id, value, onChange }: EditProps) {
  return <Matrix id={id} grants={asTexts(value)} onChange={onChange} />
}

export function RolePermissionsShow({ value, short }: ShowProps) {
  const { t } = useI18n()
  const grants = asTexts(value)
  if (short) return <span className="num">{grants.includes(everything) ? t('permissions.all') : t('permissions.count', { n: grants.length })}</span>
  return <Matrix grants={grants} />
}

export function TokenScopesEdit({ id, value, onChange }: EditProps) {
  const { t } = useI18n()
  return (
    <>
      <Matrix id={id} grants={asTexts(value)} onChange={onChange} />
      <p className="field-help">{t('permissions.emptyScopes')}</p>
    </>
  )
}

export function TokenScopesShow({ value }: ShowProps) {
  const { t } = useI18n()
  const scopes = asTexts(value)
  if (scopes.length === 0) return <span className="tag">{t('tokens.allScopes')}</span>
  return (
    <span className="tags">
      {scopes.slice(0, 4).map((s) => <code key={s} className="tag">{s}</code>)}
      {scopes.length > 4 && <span className="muted" title={scopes.join(', ')}>{t('value.more', { n: scopes.length - 4 })}</span>}
    </span>
  )
}
