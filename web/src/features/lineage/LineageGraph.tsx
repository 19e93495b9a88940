import { useLayoutEffect, useMemo, useRef } from 'react'
import { Link } from 'react-router'
import { useApp } from '../../app/context'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n, type Key } from '../../i18n'
import '../jobs/compute.css'
import { layOut, nodeHeight, nodeWidth } from './layout'
import './lineage.css'
import { nodeUrl, useGraph, type Graph, type GraphNode } from './nodes'

/** What it is called: a version by what it is one of. */
function useNodeText(): { nameOf: (node: GraphNode) => string; kindOf: (node: GraphNode) => string } {
  const { t, w } = useI18n()
  const { kind: byName } = useApp()
  return {
    nameOf: (node) => (node.deleted ? t('lineage.deleted') : !node.visible ? t('lineage.hidden') : node.kind !== 'sample' && node.of?.name ? `${node.of.name} ${node.name ?? ''}` : (node.name ?? '')),
    kindOf: (node) => {
      const own = byName(node.kind)
      const parent = own?.plural === 'versions' && own.parent ? byName(own.parent) : undefined
      return node.kind === 'sample' ? t('lineage.sample') : w((parent ?? own)?.title) || node.kind
    },
  }
}

/** In the words of its kind; folders have no field for it. */
function State({ node }: { node: GraphNode }) {
  const { t, w } = useI18n()
  const { kind: byName } = useApp()
  const state = node.state ?? ''
  const choice = byName(node.kind)?.fields.find((f) => f.name === 'state')?.choices?.find((c) => c.value === state)
  return <span className={`state state-${state}`}><i aria-hidden="true" />{choice ? w(choice.title) : t(state === 'published' ? 'versions.published' : 'versions.draft')}</span>
}

interface NodeProps {
  node: GraphNode
  /** How it belongs to the next one on the way to the object: data, code ... */
  as: string[]
  here: boolean
}

function Node({ node, as, here }: NodeProps) {
  const { t } = useI18n()
  const { kind: byName } = useApp()
  const { nameOf, kindOf } = useNodeText()
  const url = here ? null : nodeUrl(node, byName)
  const name = nameOf(node)
  const project = node.project?.name
  const inside = (
    <>
      <span className="graph-kind muted">
        {[kindOf(node), ...as.map((one) => t(`lineage.as.${one}` as Key))].join(' · ')}
      </span>
      <span className="graph-name">
        <span className={node.visible ? 'graph-text' : 'graph-text muted'} title={project ? `${project} / ${name}` : name}>{name}</span>
        {node.state && <State node={node} />}
      </span>
    </>
  )
  return url ? <Link className="graph-node" to={url}>{inside}</Link> : <div className={here ? 'graph-node here' : 'graph-node'} aria-current={here ? 'true' : undefined}>{inside}</div>
}

function Drawn({ graph }: { graph: Graph }) {
  const { t } = useI18n()
  const layout = useMemo(() => layOut(graph.nodes, graph.edges), [graph])
  const start = graph.nodes[0]?.key
  const box = useRef<HTMLDivElement>(null)
  // The object itself is in the middle of what is seen, with what it was made from and what was made of it beside it.
  useLayoutEffect(() => {
    const at = start === undefined ? undefined : layout.places.get(start)
    if (box.current && at) box.current.scrollLeft = at.x - (box.current.clientWidth - nodeWidth) / 2
  }, [layout, start])
  // Its ways towards the object: sources are sources of something, the others came of something.
  const ways = (node: GraphNode) => [...new Set(graph.edges.filter((e) => (node.depth < 0 ? e.from : e.to) === node.key && node.depth !== 0).map((e) => e.as))]
  const parts = [
    { name: 'up', title: t('lineage.up'), nodes: graph.nodes.filter((n) => n.depth < 0).sort((a, b) => b.depth - a.depth) },
    { name: 'here', title: null, nodes: graph.nodes.filter((n) => n.depth === 0) },
    { name: 'down', title: t('lineage.down'), nodes: graph.nodes.filter((n) => n.depth > 0).sort((a, b) => a.depth - b.depth) },
  ]
  return (
    <div ref={box} className="graph-box" tabIndex={0} role="region" aria-label={t('lineage.title')}>
      <div className="graph" style={{ width: layout.width, height: layout.height }}>
        <svg width={layout.width} height={layout.height} aria-hidden="true">
          {layout.lines.map((line) => <path key={`${line.from} ${line.as} ${line.to}`} d={line.path} />)}
        </svg>
        {parts.filter((part) => part.nodes.length > 0).map((part) => (
          <section key={part.name} aria-label={part.title ?? t('lineage.here')}>
            {part.title && <h2>{part.title}</h2>}
            <ul>
              {part.nodes.map((node) => {
                const place = layout.places.get(node.key)
                return (
                  <li key={node.key} style={{ left: place?.x, top: place?.y, width: nodeWidth, height: nodeHeight }} data-depth={Math.abs(node.depth)}>
                    <Node node={node} as={ways(node)} here={node.key === start} />
                  </li>
                )
              })}
            </ul>
          </section>
        ))}
      </div>
    </div>
  )
}

/** What an object was made from and what was made of it: columns of links, or a list on a phone. */
export function LineageGraph({ kind, id }: { kind: string; id: number }) {
  const { t } = useI18n()
  const found = useGraph(kind, id)
  if (found.error) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Skeleton n={1} />
  return (
    <>
      {found.data.nodes.length > 1 ? <Drawn graph={found.data} /> : <p className="muted">{t('lineage.alone')}</p>}
      {found.data.more && <p className="muted">{t('lineage.more')}</p>}
    </>
  )
}
