import type { ShowProps } from '../../components/editors'

const browsers: [RegExp, string][] = [[/Edg\/(\d+)/, 'Edge'], [/Firefox\/(\d+)/, 'Firefox'], [/Chrome\/(\d+)/, 'Chrome'], [/Version\/(\d+).*Safari/, 'Safari']]
const systems: [RegExp, string][] = [[/Android/, 'Android'], [/iPhone|iPad/, 'iOS'], [/Windows/, 'Windows'], [/Mac OS X/, 'macOS'], [/Linux/, 'Linux']]

/** "Firefox 144, Linux" for a browser's long description of itself. */
export function agentName(agent: string): string {
  for (const [pattern, name] of browsers) {
    const version = pattern.exec(agent)?.[1]
    if (!version) continue
    const system = systems.find(([p]) => p.test(agent))?.[1]
    return system ? `${name} ${version}, ${system}` : `${name} ${version}`
  }
  return agent
}

export function Agent({ value }: ShowProps) {
  const agent = typeof value === 'string' ? value : ''
  return <span title={agent}>{agentName(agent) || '—'}</span>
}
