import { useMemo } from 'react'
import { Link, useParams } from 'react-router'
import { NotFoundPage } from '../../app/pages'
import { docsUrl, type Manual } from '../../app/links'
import { useTitle } from '../../components/hooks'
import { Markdown } from '../../components/Markdown'
import { ErrorState, Skeleton } from '../../components/States'
import { useI18n } from '../../i18n'
import { Code } from './Code'
import { EnglishOnly } from './EnglishOnly'
import { isManual, manuals, resolveIn, sections, useChinese, useManual } from './manuals'
import { useAnchor } from './useAnchor'

/** /docs/NAME */
export function ManualPage() {
  const { manual } = useParams()
  return isManual(manual) ? <Shown key={manual} name={manual} /> : <NotFoundPage />
}

const code = (text: string, language: string | undefined) => <Code text={text} language={language} />

function Shown({ name }: { name: Manual }) {
  const { t } = useI18n()
  const text = useManual(name)
  const chinese = useChinese()
  const resolve = useMemo(() => resolveIn(name), [name])
  const headings = useMemo(() => sections(text.data ?? '').filter((one) => one.title !== '').slice(1).filter((one) => one.level <= 3), [text.data])
  const beside = (anchor: string) => chinese && <span className="docs-chinese"> {chinese(name, anchor)?.title}</span>
  useTitle(t(`docs.manual.${name}`), t('docs.title'))
  const here = useAnchor(text.data !== undefined)
  const [before, after] = [manuals[manuals.indexOf(name) - 1], manuals[manuals.indexOf(name) + 1]]
  if (text.error) return <ErrorState error={text.error} onRetry={() => void text.refetch()} />
  if (text.data === undefined) return <Skeleton as="page" />
  return (
    <div className="docs-page">
      <article className="docs-manual">
        <EnglishOnly />
        <Markdown text={text.data} resolve={resolve} manual code={code} beside={beside} />
        <footer className="docs-next">
          {before ? <Link to={docsUrl(before)}><span className="muted">{t('docs.before')}</span>{t(`docs.manual.${before}`)}</Link> : <span />}
          {after && <Link to={docsUrl(after)}><span className="muted">{t('docs.after')}</span>{t(`docs.manual.${after}`)}</Link>}
        </footer>
      </article>
      {headings.length > 0 && (
        <nav className="docs-toc" aria-label={t('docs.onPage')}>
          <h2>{t('docs.onPage')}</h2>
          <ul>{headings.map((one) => <li key={one.anchor} className={`level-${one.level}`}><Link to={docsUrl(name, one.anchor)} aria-current={one.anchor === here ? 'location' : undefined}>{chinese?.(name, one.anchor)?.title ?? one.title}</Link></li>)}</ul>
        </nav>
      )}
    </div>
  )
}
