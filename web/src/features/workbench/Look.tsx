import { Button, Popover, Slider, Tooltip } from 'antd'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import { useBenchState } from './useBench'

/** How the picture and the shapes on it are seen. */
export function Look({ bench }: { bench: BenchStore }) {
  const { t } = useI18n()
  return (
    <Popover trigger="click" placement="bottom" content={<Sliders bench={bench} />} destroyOnHidden>
      <Tooltip title={t('bench.look.title')}><Button type="text" aria-label={t('bench.look.title')} icon={<Icon name="sun" />} /></Tooltip>
    </Popover>
  )
}

function Sliders({ bench }: { bench: BenchStore }) {
  const { t, n } = useI18n()
  const view = useBenchState(bench, (s) => s.view)
  const selection = useBenchState(bench, (s) => s.selection)
  const label = useBenchState(bench, (s) => s.label)
  const set = (part: Partial<typeof view>) => bench.set({ view: { ...bench.state.view, ...part } })
  const all = view.opacity ?? 0.2
  // The selection, or the label that is chosen, may be filled otherwise than the rest.
  const names = selection.length > 0 ? selection : label !== null ? [`label:${label}`] : []
  const own = names.map((name) => view.fills?.get(name)).find((value) => value !== undefined)
  const fill = (value: number | undefined) => {
    const fills = new Map(view.fills)
    for (const name of names) {
      if (value === undefined) fills.delete(name)
      else fills.set(name, value)
    }
    set({ fills })
  }
  const of = selection.length > 0 ? t('bench.opacitySelection', { n: n(selection.length) }) : t('bench.opacityLabel', { name: label ?? '' })
  return (
    <div className="bench-look">
      <label>{t('bench.brightness')}<Slider min={0.2} max={3} step={0.05} value={view.brightness ?? 1} onChange={(brightness) => set({ brightness })} /></label>
      <label>{t('bench.contrast')}<Slider min={0.2} max={3} step={0.05} value={view.contrast ?? 1} onChange={(contrast) => set({ contrast })} /></label>
      <label>{t('bench.opacity')}<Slider min={0} max={1} step={0.05} value={all} onChange={(opacity) => set({ opacity })} /></label>
      {names.length > 0 && (
        <>
          <label>{of}<Slider min={0} max={1} step={0.05} value={own ?? all} onChange={fill} /></label>
          <Button size="small" type="link" className="bench-look-reset" disabled={own === undefined} onClick={() => fill(undefined)}>{t('bench.opacityReset')}</Button>
        </>
      )}
    </div>
  )
}
