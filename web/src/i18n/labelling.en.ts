// Messages of labelling: rows of texts and sounds, teams, tasks, progress, the surfaces of texts, sounds and grids.
export const labellingEn = {
  'keys.play': 'Play or pause the sound',

  'gallery.play': 'Play (P)',
  'gallery.pause': 'Pause (P)',

  'statistics.splits': 'Split',
  'statistics.untrained': '{n#1 label has|{n} labels have} no sample in train: {labels}',
} as const
