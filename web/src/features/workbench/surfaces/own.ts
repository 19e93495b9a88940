import type { Surface } from '../surface'
import { lazyPart } from '../../../app/part'

// Surfaces of what is no single picture: a sheet of many, texts, sounds. Each is loaded when it is needed.
export const gridSurface: Surface = {
  Component: lazyPart(() => import('./GridSurface'), 'GridSurface'),
  tools: [],
  commands: ['undo', 'redo', 'select-all', 'select-none', 'page-next', 'page-previous'],
}

export const textSurface: Surface = {
  Component: lazyPart(() => import('./TextSurface'), 'TextSurface'),
  tools: [],
  commands: ['find', 'find-next', 'find-previous'],
}

export const soundSurface: Surface = {
  Component: lazyPart(() => import('./SoundSurface'), 'SoundSurface'),
  tools: [],
  commands: ['play', 'restart', 'back', 'forward', 'slower', 'faster', 'loop'],
}
