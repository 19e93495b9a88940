import { Segmented } from 'antd'
import { useState } from 'react'
import { CopyText } from '../../components/CopyText'
import { ProblemNote } from '../../components/ProblemNote'
import { useI18n } from '../../i18n'
import { useServiceModel } from './services'
import { snippets } from './snippets'

/** Where the service answers, and how to ask it. */
export function Address({ service, address, model }: { service: number; address: string; model: boolean }) {
  const { t } = useI18n()
  const found = useServiceModel(service, model)
  const all = model && !found.data ? [] : snippets(address, found.data ?? null)
  const [name, setName] = useState('curl')
  const shown = all.find((one) => one.name === name) ?? all[0]
  return (
    <section className="service-address" aria-busy={model && found.isPending}>
      <h2>{t('service.address')}</h2>
      <CopyText text={address} label={t('service.address')} />
      {found.error && <ProblemNote error={found.error} />}
      {all.length > 0 && <div className="row wrap service-snippet-head">
        <Segmented size="small" aria-label={t('service.snippet')} value={name} onChange={setName} options={all.map((one) => one.name)} />
        <span className="muted">{t('service.snippetKey')}</span>
      </div>}
      {shown && <CopyText text={shown.text} label={shown.name} />}
    </section>
  )
}
