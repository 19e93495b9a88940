import { useMemo } from 'react'
import { useApp } from '../../app/context'
import { useI18n } from '../../i18n'
import { figureText } from './evaluations'

/** How people read figures: their titles and values. Names that the platform does not know stay as they are. */
export function useFigures() {
  const { figures } = useApp()
  const { n, w } = useI18n()
  return useMemo(() => {
    const byName = new Map(figures.map((f) => [f.name, f]))
    return {
      title: (name: string) => w(byName.get(name)?.title) || name,
      text: (name: string, value: number | null | undefined) => figureText(byName.get(name)?.less ?? false, value, n),
    }
  }, [figures, n, w])
}
