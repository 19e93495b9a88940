import type { Annotation } from './model'

type Labelled = { readonly label?: unknown }

/** The annotation with other names for its labels; two that become one are one. */
export function relabelled(annotation: Annotation, names: Readonly<Record<string, string>>): Annotation {
  const now = (label: string) => (Object.hasOwn(names, label) ? (names[label] ?? label) : label)
  const each = <T extends Labelled>(list: readonly T[]): T[] => list.map((one) => (typeof one.label === 'string' && now(one.label) !== one.label ? { ...one, label: now(one.label) } : one))
  const { labels, scores, shapes, spans, segments, ...rest } = annotation
  const higher: Record<string, number> = {}
  for (const [label, score] of Object.entries(scores ?? {})) higher[now(label)] = Math.max(score, higher[now(label)] ?? 0)
  return {
    ...rest,
    ...(labels && { labels: [...new Set(labels.map(now))].sort() }), ...(scores && { scores: higher }),
    ...(shapes && { shapes: each(shapes) }), ...(spans && { spans: each(spans) }), ...(segments && { segments: each(segments) }),
  }
}
