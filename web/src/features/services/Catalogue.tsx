import { useQuery } from '@tanstack/react-query'
import { Button, Input } from 'antd'
import { useState } from 'react'
import { Link } from 'react-router'
import { request } from '../../api/client'
import { projectUrl } from '../../app/links'
import { useTitle } from '../../components/hooks'
import { Empty, ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { StateTag } from '../jobs/State'
import { Interface } from './Interface'

interface Entry {
  service: number
  project_name: string
  name: string
  /** What people call both: the names above are those of the address. */
  project_title: string
  title: string
  state: string
  model: boolean
  address: string
}

/** The interfaces of all services that one may use, over all projects. */
export function Catalogue() {
  const { t } = useI18n()
  const [words, setWords] = useState('')
  const [shown, setShown] = useState<number | null>(null)
  useTitle(t('catalogue.title'))
  const found = useQuery({ queryKey: ['objects', 'service', 'catalogue'], queryFn: async ({ signal }) => (await request<{ items: Entry[] }>('/catalogue', { signal })).items })
  const items = (found.data ?? []).filter((one) => `${one.project_title}/${one.title} ${one.address}`.toLowerCase().includes(words.toLowerCase()))
  const opened = items.find((one) => one.service === shown)
  return (
    <section>
      <h1>{t('catalogue.title')}</h1>
      <p className="muted">{t('catalogue.text')}</p>
      {found.error && !found.data && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
      {!found.data && !found.error && <Skeleton n={2} />}
      {found.data?.length === 0 && <Empty title={t('catalogue.none')} text={t('catalogue.noneText')} />}
      {found.data && found.data.length > 0 && (
        <>
          <div className="tools"><Input.Search allowClear aria-label={t('catalogue.search')} placeholder={t('catalogue.search')} value={words} onChange={(e) => setWords(e.target.value)} style={{ maxWidth: 320 }} /></div>
          <div className="table-box">
            <table className="table">
              <thead><tr><th scope="col">{t('catalogue.service')}</th><th scope="col">{t('catalogue.project')}</th><th scope="col">{t('job.state')}</th><th scope="col">{t('service.address')}</th><th scope="col">{t('catalogue.interface')}</th></tr></thead>
              <tbody>
                {items.map((one) => (
                  <tr key={one.service}>
                    <td className="first"><Link to={`${projectUrl(one.project_title)}/services/${one.service}`}>{one.title}</Link></td>
                    <td>{one.project_title}</td>
                    <td><StateTag state={one.state} /></td>
                    <td><code>{one.address}</code></td>
                    <td>{one.model ? <Button size="small" aria-expanded={shown === one.service} onClick={() => setShown(shown === one.service ? null : one.service)}>{t('interface.show')}</Button> : <span className="muted">{t('catalogue.own')}</span>}</td>
                  </tr>
                ))}
                {items.length === 0 && <tr><td colSpan={5} className="muted">{t('list.noMatch')}</td></tr>}
              </tbody>
            </table>
          </div>
          {opened && <section className="catalogue-interface"><h2>{`${opened.project_title}/${opened.title}`}</h2><Interface service={opened.service} /></section>}
        </>
      )}
    </section>
  )
}
