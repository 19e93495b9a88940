import { useMutation, useQueryClient } from '@tanstack/react-query'
import { App, InputNumber, Slider } from 'antd'
import { useEffect, useState } from 'react'
import { request } from '../../api/client'
import type { Item } from '../../api/kinds'
import { invalidate } from '../../api/objects'
import { problemText } from '../../components/problem'
import { useI18n } from '../../i18n'
import { shareText } from './services'

/** The canary's part of the requests, changed while they run. */
export function Share({ item, may }: { item: Item; may: boolean }) {
  const i18n = useI18n()
  const { t } = i18n
  const { message } = App.useApp()
  const client = useQueryClient()
  const kept = Number(item['share'])
  const [share, setShare] = useState(kept)
  useEffect(() => setShare(kept), [kept])
  const save = useMutation({
    mutationFn: (value: number) => request(`/services/${item.id}`, { method: 'PATCH', body: { share: value }, revision: item.revision }),
    onError: (error) => {
      setShare(kept)
      void message.error(problemText(error, i18n))
    },
    onSettled: () => invalidate(client, 'service'),
  })
  if (!may) return <p className="num">{t('service.shareNow', { share: shareText(kept) })}</p>
  return (
    <div className="service-share">
      <span id="share-label" className="muted">{t('service.canaryShare')}</span>
      <Slider min={0} max={100} step={0.1} value={share / 10} onChange={(v) => setShare(Math.round(v * 10))} onChangeComplete={(v) => save.mutate(Math.round(v * 10))} ariaLabelledByForHandle="share-label" tooltip={{ formatter: (v) => `${v} %` }} />
      <InputNumber aria-labelledby="share-label" min={0} max={100} step={0.1} value={share / 10} addonAfter="%" onChange={(v) => v !== null && setShare(Math.round(v * 10))} onBlur={() => share !== kept && save.mutate(share)} onPressEnter={() => share !== kept && save.mutate(share)} />
    </div>
  )
}
