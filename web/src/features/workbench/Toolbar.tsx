import { Button, Dropdown, Tooltip } from 'antd'
import { memo, useEffect, useRef } from 'react'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import { keyOf, type Command, type Group, type Page } from './commands'
import { shown } from './keyTable'
import { Look } from './Look'
import { ToolIcon } from './ToolIcon'
import { useBenchState } from './useBench'
import type { Keys } from './useCommands'

const menuGroups: readonly Group[] = ['tool', 'go', 'work', 'shape', 'view', 'media']

/** Tools, what is done often, and a menu with everything: all of it from the registry. Where there is no room for the row it is
 * pushed to the side, and the menu stays. */
export const Toolbar = memo(function Toolbar({ bench, page, commands, own }: { bench: BenchStore; page: Page; commands: readonly Command[]; own: Keys }) {
  const { t } = useI18n()
  const tool = useBenchState(bench, (s) => s.tool)
  const row = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // What was chosen by key is seen to be chosen; nothing else is moved by that.
    const [box, on] = [row.current, row.current?.querySelector<HTMLElement>('.bench-on')]
    if (!box || !on || box.scrollWidth <= box.clientWidth) return
    const [from, to] = [on.offsetLeft, on.offsetLeft + on.offsetWidth]
    if (from < box.scrollLeft || to > box.scrollLeft + box.clientWidth) box.scrollLeft = from - (box.clientWidth - on.offsetWidth) / 2
  }, [tool])
  const title = (c: Command) => (keyOf(c, own) ? `${t(c.title)} (${shown(keyOf(c, own))})` : t(c.title))
  const button = (id: string) => {
    const c = commands.find((x) => x.id === id)
    return c && <Tooltip key={id} title={title(c)}><Button type="text" aria-label={t(c.title)} icon={<ToolIcon name={id} />} onClick={() => c.run({ bench, page })} /></Tooltip>
  }
  return (
    <div className="bench-tools" role="toolbar" aria-label={t('bench.group.tool')}>
      <div ref={row} className="bench-tool-row">
        {!bench.fixed && commands.filter((c) => c.group === 'tool').map((c) => {
          const name = c.id.slice('tool.'.length)
          return <Tooltip key={c.id} title={title(c)}><Button type="text" className={tool === name ? 'bench-on' : undefined} aria-pressed={tool === name} aria-label={t(c.title)} icon={<ToolIcon name={name} />} onClick={() => c.run({ bench, page })} /></Tooltip>
        })}
        <span className="bench-gap" />
        {button('undo')}
        {button('redo')}
        {button('fit')}
        {button('zoom-out')}
        {button('zoom-in')}
        {bench.dataType === 'image' && <Look bench={bench} />}
        {button('history')}
        {button('many')}
      </div>
      <Dropdown
        trigger={['click']}
        menu={{
          className: 'bench-menu',
          items: menuGroups.map((group) => ({
            key: group, type: 'group' as const, label: t(`bench.group.${group}`),
            children: commands.filter((c) => c.group === group && (group !== 'tool' || !bench.fixed)).map((c) => ({ key: c.id, label: t(c.title), extra: shown(keyOf(c, own)) })),
          })).filter((g) => g.children.length > 0),
          onClick: ({ key }) => commands.find((c) => c.id === key)?.run({ bench, page }),
        }}
      >
        <Button type="text" aria-label={t('bench.more')} icon={<Icon name="more" />} />
      </Dropdown>
    </div>
  )
})
