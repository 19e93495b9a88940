import { Input, type InputRef } from 'antd'
import { useDeferredValue, useImperativeHandle, useMemo, useRef, useState, type KeyboardEvent, type RefObject } from 'react'
import { Link, NavLink, useNavigate } from 'react-router'
import { docsUrl, referenceUrl } from '../../app/links'
import { Icon } from '../../components/Icon'
import { isKey, useI18n, type I18n } from '../../i18n'
import { groups, sections, useChinese, useManuals, type Chinese, type Group } from './manuals'
import { grouped, useReference, wholeTitle, type Reference } from './reference'
import { marked, search, wordsOf, type Entry, type Hit } from './search'

/** What the menu calls a group of nouns. */
export function titleOfGroup({ t }: I18n, name: string | null): string {
  const key: string = `menu.${name ?? ''}`
  return isKey(key) ? t(key) : t('docs.group.rest')
}

function entriesOf(texts: ReturnType<typeof useManuals>['texts'], reference: Reference | undefined, { t, w }: I18n, chinese: Chinese | undefined): Entry[] {
  const found: Entry[] = []
  for (const [name, text] of texts) {
    const where = t(`docs.manual.${name}`)
    // Found by what it is called in the reader's language, too.
    found.push({ url: docsUrl(name), title: where, where: '', text: t(`docs.about.${name}`) })
    for (const one of sections(text)) {
      const own = chinese?.(name, one.anchor)
      found.push({ url: docsUrl(name, one.anchor), title: own ? `${own.title} · ${one.title}` : one.title, where, text: one.text, also: own?.words })
    }
  }
  const nouns = reference?.nouns ?? []
  for (const noun of nouns) {
    const title = wholeTitle(noun, nouns, w)
    found.push({ url: referenceUrl(noun.name), title, where: t('docs.reference'), text: `${noun.title.en} ${noun.description}` })
    for (const one of noun.operations) found.push({ url: referenceUrl(noun.name, one.id), title: one.summary, where: `${t('docs.reference')} · ${title}`, text: `${one.method} ${one.path} ${one.id} ${one.description}` })
  }
  return found
}

/** Everything there is to read, and a search through it. */
export function DocsNav({ find, autoFocus, onGo }: { find: RefObject<HTMLInputElement | null>; autoFocus: boolean; onGo: () => void }) {
  const i18n = useI18n()
  const { t } = i18n
  const navigate = useNavigate()
  const [query, setQuery] = useState('')
  const [touched, setTouched] = useState(false)
  const [at, setAt] = useState(0)
  const input = useRef<InputRef>(null)
  useImperativeHandle(find, () => input.current?.input as HTMLInputElement, [])
  const reference = useReference()
  const { texts, pending, error } = useManuals(touched)
  const chinese = useChinese()
  const entries = useMemo(() => (touched ? entriesOf(texts, reference.data, i18n, chinese) : []), [touched, texts, reference.data, i18n, chinese])
  const wanted = useDeferredValue(query)
  const hits = useMemo(() => search(entries, wanted), [entries, wanted])
  const searching = wordsOf(query).length > 0
  const go = (hit: Hit | undefined) => {
    if (!hit) return
    onGo()
    void navigate(hit.url)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      const next = Math.max(0, Math.min(hits.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1)))
      setAt(next)
      document.getElementById(`docs-hit-${next}`)?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) go(hits[at])
    else if (event.key === 'Escape' && query !== '') {
      event.preventDefault()
      event.stopPropagation()
      setQuery('')
    }
  }
  return (
    <div className="docs-nav">
      <Input
        ref={input} className="docs-find" type="search" autoFocus={autoFocus} value={query} placeholder={t('docs.find')} prefix={<Icon name="search" size={14} />} aria-label={t('docs.find')}
        role="combobox" aria-expanded={searching} aria-controls="docs-hits" aria-autocomplete="list" aria-activedescendant={searching && hits[at] ? `docs-hit-${at}` : undefined}
        onFocus={() => setTouched(true)} onKeyDown={onKeyDown}
        onChange={(event) => { setTouched(true); setQuery(event.target.value); setAt(0) }}
      />
      <p className="visually-hidden" role="status">{searching && !pending ? t('docs.found', { n: hits.length }) : ''}</p>
      {searching ? <Hits hits={hits} words={wordsOf(wanted)} at={at} state={error ? t('docs.searchFailed') : pending ? t('docs.searching') : hits.length === 0 ? t('docs.nothing') : null} onGo={go} /> : <Tree reference={reference.data} />}
    </div>
  )
}

function Hits({ hits, words, at, state, onGo }: { hits: Hit[]; words: string[]; at: number; state: string | null; onGo: (hit: Hit) => void }) {
  const { t } = useI18n()
  const show = (parts: string[]) => parts.map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part))
  return (
    <>
      {state && <p className="muted docs-state">{state}</p>}
      <ul id="docs-hits" className="docs-hits" role="listbox" aria-label={t('docs.results')}>
        {hits.map((hit, i) => (
          <li key={`${hit.url} ${hit.title}`} id={`docs-hit-${i}`} role="option" aria-selected={i === at} className={i === at ? 'active' : undefined} onClick={() => onGo(hit)}>
            <strong>{hit.title ? show(marked(hit.title, words)) : hit.where}</strong>
            {hit.title && hit.where && <span className="muted">{hit.where}</span>}
            <span className="docs-excerpt">{show(hit.excerpt)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

function Tree({ reference }: { reference: Reference | undefined }) {
  const i18n = useI18n()
  const { t, w } = i18n
  return (
    <nav className="docs-tree" aria-label={t('docs.contents')}>
      <Link to={docsUrl()} className="docs-part">{t('docs.manuals')}</Link>
      {(Object.keys(groups) as Group[]).map((group) => (
        <section key={group}>
          <h2>{t(`docs.group.${group}`)}</h2>
          <ul>{groups[group].map((name) => <li key={name}><NavLink className="menu-link" to={docsUrl(name)}>{t(`docs.manual.${name}`)}</NavLink></li>)}</ul>
        </section>
      ))}
      <Link to={referenceUrl()} className="docs-part">{t('docs.reference')}</Link>
      {grouped(reference?.nouns ?? []).map((group) => (
        <section key={group.name ?? ''}>
          <h2>{titleOfGroup(i18n, group.name)}</h2>
          <ul>{group.nouns.map((noun) => <li key={noun.name}><NavLink className={`menu-link${noun.parent ? ' docs-child' : ''}`} to={referenceUrl(noun.name)}>{w(noun.title)}</NavLink></li>)}</ul>
        </section>
      ))}
    </nav>
  )
}
