import { Link } from 'react-router'
import { docsUrl, referenceUrl } from '../../app/links'
import { useTitle } from '../../components/hooks'
import { useI18n } from '../../i18n'
import { EnglishOnly } from './EnglishOnly'
import { groups, type Group } from './manuals'

/** What there is to read. */
export function DocsHome() {
  const { t } = useI18n()
  useTitle(t('docs.title'))
  return (
    <div className="docs-home">
      <h1>{t('docs.title')}</h1>
      <p className="lead">{t('docs.lead')}</p>
      <EnglishOnly />
      {(Object.keys(groups) as Group[]).map((group) => (
        <section key={group}>
          <h2>{t(`docs.group.${group}`)}</h2>
          <ul className="docs-cards">
            {groups[group].map((name) => (
              <li key={name}><Link to={docsUrl(name)}><strong>{t(`docs.manual.${name}`)}</strong><span>{t(`docs.about.${name}`)}</span></Link></li>
            ))}
            {group === 'scripts' && <li><Link to={referenceUrl()}><strong>{t('docs.reference')}</strong><span>{t('docs.referenceAbout')}</span></Link></li>}
          </ul>
        </section>
      ))}
    </div>
  )
}
