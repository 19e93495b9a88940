// What people type to push to and pull from the platform's registry.
export interface Command {
  label: 'images.signIn' | 'images.tag' | 'images.push' | 'images.pull' | 'images.copyTo'
  text: string
}

export const clients = ['docker', 'podman', 'skopeo'] as const
export type Client = (typeof clients)[number]

/** host as in the address bar; secure: over TLS. */
export function commandsOf(client: Client, host: string, secure: boolean, repository: string, version: string, user: string): Command[] {
  const name = `${host}/${repository}:${version}`
  const plain = secure ? '' : ' --tls-verify=false'
  if (client === 'skopeo') {
    return [
      { label: 'images.signIn', text: `skopeo login${plain} -u ${user} ${host}` },
      { label: 'images.copyTo', text: `skopeo copy${secure ? '' : ' --dest-tls-verify=false'} docker-daemon:local:latest docker://${name}` },
      { label: 'images.pull', text: `skopeo copy${secure ? '' : ' --src-tls-verify=false'} docker://${name} oci-archive:image.tar` },
    ]
  }
  const option = client === 'docker' ? '' : plain
  return [
    { label: 'images.signIn', text: `${client} login${option} -u ${user} ${host}` },
    { label: 'images.tag', text: `${client} tag local:latest ${name}` },
    { label: 'images.push', text: `${client} push${option} ${name}` },
    { label: 'images.pull', text: `${client} pull${option} ${name}` },
  ]
}

const versionRule = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,49}$/

export function isVersion(text: string): boolean {
  return versionRule.test(text)
}

/** "tool-1.2.tar.gz" suggests "1.2". */
export function versionOf(file: string): string {
  const bare = file.replace(/\.(tar|tgz|tar\.\w+)$/i, '')
  const last = bare.split(/[-_:]/).at(-1) ?? ''
  return /\d/.test(last) && isVersion(last) ? last : 'latest'
}
