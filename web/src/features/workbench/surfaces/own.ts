import { lazy } from 'react'
import type { Surface } from '../surface'

// Surfaces of what is no single picture: a sheet of many, texts, sounds. Each is loaded when it is needed.
export const gridSurface: Surface = {
  Component: lazy(async () => ({ default: (await import('./GridSurface')).GridSurface })),
  tools: [],
  commands: ['undo', 'redo', 'select-all', 'select-none', 'page-next', 'page-previous'],
}

export const textSurface: Surface = {
  Component: lazy(async () => ({ default: (await import('./TextSurface')).TextSurface })),
  tools: [],
  commands: ['find', 'find-next', 'find-previous'],
}

export const soundSurface: Surface = {
  Component: lazy(async () => ({ default: (await import('./SoundSurface')).SoundSurface })),
  tools: [],
  commands: ['play', 'restart', 'back', 'forward', 'slower', 'faster', 'loop'],
}
