import { Button, Dropdown, Tooltip } from 'antd'
import { memo } from 'react'
import { Icon } from '../../components/Icon'
import { useI18n } from '../../i18n'
import type { BenchStore } from './bench'
import { keyOf, type Command, type Group, type Page } from './commands'
import { shown } from './keyTable'
import { Look } from './Look'
import { ToolIcon } from './ToolIcon'
import { useBenchState } from './useBench'
import type { Keys } from './useCommands'

const menuGroups: readonly Group[] = ['go', 'work', 'shape', 'view', 'media']

/** Tools, what is done often, and a menu with the rest: all of it from the registry. */
export const Toolbar = memo(function Toolbar({ bench, page, commands, own }: { bench: BenchStore; page: Page; commands: readonly Command[]; own: Keys }) {
  const { t } = useI18n()
  const tool = useBenchState(bench, (s) => s.tool)
  const title = (c: Command) => (keyOf(c, own) ? `${t(c.title)} (${shown(keyOf(c, own))})` : t(c.title))
  const button = (id: string) => {
    const c = commands.find((x) => x.id === id)
    return c && <Tooltip key={id} title={title(c)}><Button type="text" aria-label={t(c.title)} icon={<ToolIcon name={id} />} onClick={() => c.run({ bench, page })} /></Tooltip>
  }
  return (
    <div className="bench-tools" role="toolbar" aria-label={t('bench.group.tool')}>
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
      <Dropdown
        trigger={['click']}
        menu={{
          className: 'bench-menu',
          items: menuGroups.map((group) => ({
            key: group, type: 'group' as const, label: t(`bench.group.${group}`),
            children: commands.filter((c) => c.group === group).map((c) => ({ key: c.id, label: t(c.title), extra: shown(keyOf(c, own)) })),
          })).filter((g) => g.children.length > 0),
          onClick: ({ key }) => commands.find((c) => c.id === key)?.run({ bench, page }),
        }}
      >
        <Button type="text" aria-label={t('bench.more')} icon={<Icon name="more" />} />
      </Dropdown>
    </div>
  )
})
