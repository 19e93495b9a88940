import { memo, useEffect, useImperativeHandle, type KeyboardEvent, type MouseEvent, type Ref } from 'react'
import { useI18n } from '../../i18n'
import { Cell } from './Cell'
import { Row } from './Row'
import type { ColorOf } from './samples'
import type { Pages } from './usePages'
import { spare, useWindow } from './useWindow'
import { pageSize, scrollFor, windowOf, windowRows } from './window'

/** What the gallery may ask of its grid. */
export interface GridHandle {
  focus: () => void
  columns: () => number
  /** Cells on one screen. */
  screen: () => number
  reveal: (index: number) => void
}

interface Props {
  handle: Ref<GridHandle>
  path: string
  dataType: string
  colorOf: ColorOf
  pages: Pages
  selected: ReadonlySet<number>
  active: number
  hidden: boolean
  /** Pages that are in sight, once they do not fly by. */
  onPages: (from: number, to: number) => void
  onPick: (index: number, event: MouseEvent) => void
  onKeyDown: (event: KeyboardEvent) => void
}

/** Rows stand relative to the first of so many, as browsers place things far from their parent less exactly. */
const block = 64

/** The cells in sight. Their elements are used again: the order of elements says nothing, their places do. */
export const Grid = memo(function Grid({ handle, path, dataType, colorOf, pages, selected, active, hidden, onPages, onPick, onKeyDown }: Props) {
  const { t } = useI18n()
  const rows = dataType === 'text' || dataType === 'audio'
  const One = rows ? Row : Cell
  const { box, cells: { columns, width, rowHeight, gap }, shown, viewNow } = useWindow(pages.count, rows ? 'rows' : 'cells')
  const { first, last, offset, calm } = shown
  const from = Math.floor((first * columns) / pageSize)
  const to = Math.max(from, Math.floor((Math.max(1, last) * columns - 1) / pageSize))
  useEffect(() => {
    if (calm) onPages(from, to)
  }, [calm, from, to, onPages])

  useImperativeHandle(handle, () => ({
    focus: () => box.current?.focus({ preventScroll: true }),
    columns: () => columns,
    screen: () => Math.max(1, Math.floor(viewNow().height / rowHeight)) * columns,
    reveal: (index) => {
      const view = viewNow()
      const to = scrollFor(Math.floor(index / columns), view, document.querySelector('.gallery-tools')?.clientHeight)
      const scroller = document.getElementById('main')
      if (to !== null && scroller) scroller.scrollTop += to - view.above
    },
  }), [box, columns, rowHeight, viewNow])

  const base = Math.floor(first / block) * block
  const slots = windowRows(viewNow().height, rowHeight, spare)
  const drawn = []
  for (let slot = 0; slot < slots; slot += 1) {
    const row = first + ((((slot - first) % slots) + slots) % slots)
    if (row >= last) continue
    for (let column = 0; column < columns; column += 1) {
      const index = row * columns + column
      if (index >= pages.count) break
      const sample = pages.at(index)
      drawn.push(
        <One
          key={slot * columns + column} index={index} count={pages.count} path={path} sample={sample} dataType={dataType} colorOf={colorOf} selected={sample !== undefined && selected.has(sample.id)} active={index === active}
          left={column * (width + gap)} top={(row - base) * rowHeight} width={width} height={rowHeight - gap} calm={calm}
        />,
      )
    }
  }
  const onClick = (event: MouseEvent) => {
    const cell = (event.target as Element).closest<HTMLElement>('.cell')
    if (cell) onPick(Number(cell.dataset['index']), event)
  }
  return (
    <div
      ref={box} className={rows ? 'gallery gallery-rows' : 'gallery'} role="listbox" aria-label={t('tab.samples')} aria-multiselectable="true" tabIndex={hidden ? -1 : 0} hidden={hidden}
      aria-activedescendant={active >= first * columns && active < last * columns ? `sample-${active}` : undefined}
      style={{ height: windowOf(viewNow()).total || undefined }} onKeyDown={onKeyDown} onClick={onClick}
    >
      <div className="gallery-rail" role="presentation" style={{ top: base * rowHeight - offset }}>{drawn}</div>
    </div>
  )
})
