import { Select } from 'antd'
import { useSyncExternalStore } from 'react'
import { refreshEvery } from '../app/prefs'
import { useI18n } from '../i18n'

const choices = [0, 5000, 15_000, 60_000, 300_000] as const
const usual = 15_000

/** How often pages that watch the platform ask again, in milliseconds; 0: never. One choice for all of them, kept in this browser. */
export function useRefresh(): number {
  const text = useSyncExternalStore(refreshEvery.subscribe, refreshEvery.get)
  return choices.find((ms) => String(ms) === text) ?? usual
}

/** The same as a query takes it. */
export function useRefetch(): number | false {
  return useRefresh() || false
}

export function RefreshPicker() {
  const { t } = useI18n()
  const value = useRefresh()
  const label = (ms: number) => (ms === 0 ? t('chart.off') : ms < 60_000 ? t('chart.every', { n: ms / 1000 }) : t('chart.everyMinutes', { n: ms / 60_000 }))
  return <Select className="refresh" aria-label={t('chart.refresh')} value={value} onChange={(ms: number) => refreshEvery.set(String(ms))} popupMatchSelectWidth={false} options={choices.map((ms) => ({ value: ms, label: label(ms) }))} />
}
