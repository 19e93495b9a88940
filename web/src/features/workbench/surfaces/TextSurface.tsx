import { useQuery } from '@tanstack/react-query'
import { Button, Input, type InputRef } from 'antd'
import { memo, useEffect, useImperativeHandle, useMemo, useRef, useState, type KeyboardEvent } from 'react'
import { formatBytes } from '../../../components/format'
import { useDebounced } from '../../../components/hooks'
import { Icon } from '../../../components/Icon'
import { ErrorState } from '../../../components/States'
import { useI18n } from '../../../i18n'
import { textBegin } from '../../datasets/samples'
import type { SurfaceProps } from '../surface'
import { Chosen } from './Chosen'
import './surfaces.css'
import { blocksOf, findAll, firstBehind, piecesOf, type Block, type Found } from './textModel'

/** More than anybody reads: the rest of a longer text is left out, and that is said. */
const longest = 8 * 1024 * 1024
const mostFound = 10_000
const none: Found[] = []

/** A text to be read, searched and labelled. Pieces out of sight are not laid out, however long it is. */
export function TextSurface({ bench, sample, document, labels, handle }: SurfaceProps) {
  const { t, n } = useI18n()
  const [words, setWords] = useState('')
  const [current, setCurrent] = useState(0)
  const pane = useRef<HTMLDivElement>(null)
  const search = useRef<InputRef>(null)
  const sought = useDebounced(words, 120)
  const text = useQuery({
    queryKey: ['sample-whole', sample.digest],
    queryFn: ({ signal }) => textBegin(bench.path, sample, longest, signal),
    staleTime: Infinity,
    gcTime: 30_000,
  })
  const blocks = useMemo(() => blocksOf(text.data ?? ''), [text.data])
  const found = useMemo(() => (sought && text.data ? findAll(text.data, sought, mostFound) : none), [text.data, sought])

  const shown = text.data !== undefined
  useEffect(() => {
    if (shown) bench.tell({ type: 'shown', sample: sample.id })
  }, [bench, shown, sample.id])
  useEffect(() => {
    pane.current?.scrollTo({ top: 0 })
  }, [sample.id])

  const reveal = (index: number) => {
    const match = found[index]
    if (!match) return
    setCurrent(index)
    const block = firstBehind(blocks, match[0], (b) => b.start + b.text.length)
    const node = pane.current?.children[block]
    // The piece has no height of its own until it is near; what was found is scrolled to once it has.
    node?.scrollIntoView({ block: 'center' })
    requestAnimationFrame(() => pane.current?.querySelector(`[data-found="${index}"]`)?.scrollIntoView({ block: 'center' }))
  }
  const step = (by: number) => {
    if (found.length === 0) return false
    reveal((current + by + found.length) % found.length)
    return true
  }
  useEffect(() => {
    setCurrent(0)
    if (found.length > 0) reveal(0)
    // What was found anew is shown from its first.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [found])

  useImperativeHandle(handle, () => ({
    command: (name) => {
      if (name === 'find') search.current?.focus({ cursor: 'all' })
      else if (name === 'find-next') return step(1)
      else if (name === 'find-previous') return step(-1)
      else return false
      return true
    },
    label: () => false,
    focus: () => pane.current?.focus({ preventScroll: true }),
  }))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter') step(event.shiftKey ? -1 : 1)
    else if (event.key === 'Escape') {
      setWords('')
      pane.current?.focus({ preventScroll: true })
    } else return
    event.preventDefault()
    event.stopPropagation()
  }

  return (
    <section className="reading" aria-label={sample.name}>
      <div className="reading-tools">
        <Input ref={search} className="search" size="small" allowClear prefix={<Icon name="search" size={14} />} aria-label={t('textSurface.find')} placeholder={t('textSurface.find')} value={words} onChange={(e) => setWords(e.target.value)} onKeyDown={onKeyDown} />
        {sought !== '' && (
          <>
            <span className="muted num" role="status">{found.length === 0 ? t('textSurface.none') : t('textSurface.found', { i: n(current + 1), n: found.length >= mostFound ? `${n(mostFound)}+` : n(found.length) })}</span>
            <Button size="small" type="text" aria-label={t('textSurface.previous')} title={t('textSurface.previous')} disabled={found.length === 0} icon={<Icon name="up" size={14} />} onClick={() => step(-1)} />
            <Button size="small" type="text" aria-label={t('textSurface.next')} title={t('textSurface.next')} disabled={found.length === 0} icon={<Icon name="down" size={14} />} onClick={() => step(1)} />
          </>
        )}
        <span className="grow" />
        <Chosen document={document} labels={labels} colorOf={bench.colorOf} />
        <span className="muted num">{formatBytes(sample.size)}</span>
      </div>
      {text.error ? <ErrorState error={text.error} onRetry={() => void text.refetch()} /> : (
        <div ref={pane} className="reading-pane" tabIndex={0} role="document" aria-label={sample.name} aria-busy={!shown}>
          {blocks.map((block) => <Piece key={block.start} block={block} found={found} current={current} />)}
        </div>
      )}
      {sample.size > longest && <p className="note">{t('textSurface.cut', { size: formatBytes(longest) })}</p>}
      {shown && text.data === '' && <p className="muted">{t('textSurface.empty')}</p>}
    </section>
  )
}

const Piece = memo(function Piece({ block, found, current }: { block: Block; found: readonly Found[]; current: number }) {
  return (
    <p className="reading-block" dir="auto">
      {piecesOf(block, found).map((piece, i) => (piece.found === undefined ? piece.text : <mark key={i} data-found={piece.found} className={piece.found === current ? 'current' : undefined}>{piece.text}</mark>))}
    </p>
  )
}, (a, b) => {
  if (a.block !== b.block) return false
  const has = (p: typeof a) => {
    const first = p.found[firstBehind(p.found, p.block.start, (f) => f[1])]
    return first !== undefined && first[0] < p.block.start + p.block.text.length
  }
  return !has(a) && !has(b)
})
