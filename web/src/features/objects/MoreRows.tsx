import { Button } from 'antd'
import { useEffect, useRef } from 'react'
import { useI18n } from '../../i18n'

interface More {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  fetchNextPage: () => unknown
}

/** Loads the next page when the end comes near; the button is there for keyboards and after a failure. */
export function MoreRows({ list }: { list: More }) {
  const { t } = useI18n()
  const end = useRef<HTMLDivElement>(null)
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list
  useEffect(() => {
    const node = end.current
    if (!node || !hasNextPage || isFetchingNextPage || isFetchNextPageError) return
    const watch = new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && void fetchNextPage(), { rootMargin: '400px' })
    watch.observe(node)
    return () => watch.disconnect()
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage])
  if (!hasNextPage) return null
  return (
    <div ref={end} className="more-rows">
      <Button loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>{isFetchNextPageError ? t('error.retry') : t('list.more')}</Button>
    </div>
  )
}
