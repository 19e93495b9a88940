import { useSyncExternalStore } from 'react'

// One sound at a time is played in lists: whoever starts another ends the one before.
interface Played {
  url: string | null
  playing: boolean
  /** Share of the sound that is over: 0 to 1. */
  at: number
}

const idle: Played = { url: null, playing: false, at: 0 }
let now = idle
let audio: HTMLAudioElement | null = null
const listeners = new Set<() => void>()

function change(next: Played): void {
  now = next
  for (const listener of listeners) listener()
}

function element(): HTMLAudioElement {
  if (audio) return audio
  const made = new Audio()
  const share = () => (made.duration > 0 ? made.currentTime / made.duration : 0)
  made.addEventListener('timeupdate', () => change({ ...now, at: share() }))
  made.addEventListener('play', () => change({ ...now, playing: true }))
  made.addEventListener('pause', () => change({ ...now, playing: false }))
  made.addEventListener('ended', () => change({ ...now, playing: false, at: 0 }))
  made.addEventListener('error', () => change(idle))
  audio = made
  return made
}

/** Plays a sound from its beginning or where it stopped; the one that plays is stopped. */
export function togglePlayed(url: string): void {
  const player = element()
  if (now.url === url && now.playing) return player.pause()
  if (now.url !== url) {
    player.pause()
    player.src = url
    change({ url, playing: false, at: 0 })
  }
  // What cannot be played tells so by its error event.
  void player.play().catch(() => undefined)
}

export function stopPlayed(): void {
  audio?.pause()
  change(idle)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** How far a sound is; the same object while it is not played, so that the other rows are not drawn again. */
export function usePlayed(url: string): Played {
  return useSyncExternalStore(subscribe, () => (now.url === url ? now : idle))
}
