// The canvas package: what pages import.
export type * from './api'
export { createCanvas } from './canvas'
export { compare, likeness, type Difference } from './compare'
export { createDocument, type CanvasDocument, type DocumentEvent, type Origin } from './document'
export * from './model'
export { levelFor, loadPicture, type PictureFile } from './render/bitmap'
