// Messages of labelling: rows of texts and sounds, teams, tasks, progress, the surfaces of texts, sounds and grids.
export const labellingEn = {
  'keys.play': 'Play or pause the sound',

  'gallery.play': 'Play (P)',
  'gallery.pause': 'Pause (P)',

  'statistics.splits': 'Split',
  'statistics.untrained': '{n#1 label has|{n} labels have} no sample in train: {labels}',

  'surface.unlabelled': 'No label yet',
  'surface.retired': 'retired',

  'textSurface.find': 'Find in the text',
  'textSurface.none': 'Not found',
  'textSurface.found': '{i} of {n}',
  'textSurface.previous': 'Previous find (Shift+Enter)',
  'textSurface.next': 'Next find (Enter)',
  'textSurface.cut': 'Only the first {size} of this text are shown.',
  'textSurface.empty': 'This text is empty.',

  'soundSurface.play': 'Play',
  'soundSurface.pause': 'Pause',
  'soundSurface.back': '− {n} s',
  'soundSurface.forward': '+ {n} s',
  'soundSurface.speed': 'Speed',
  'soundSurface.loop': 'Loop',
  'soundSurface.failed': 'This browser cannot play the sound.',
  'soundSurface.hint': 'Space plays and pauses, a label’s key labels.',

  'gridSurface.title': 'Many at once',
  'gridSurface.page': 'Page {i} of {n}',
  'gridSurface.previous': 'Previous page (Page Up)',
  'gridSurface.next': 'Next page (Page Down)',
  'gridSurface.hint': 'Arrows move, Shift selects, a label’s key labels the selection, Enter opens one.',
  'gridSurface.readOnly': 'Only to be looked at.',
} as const
