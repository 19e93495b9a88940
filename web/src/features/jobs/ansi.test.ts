import { expect, test } from 'vitest'
import { ansiPieces, colorOf, plainText } from './ansi'

const esc = '\x1b'

test('plain text is one piece', () => {
  expect(ansiPieces('hello <b>')).toEqual([{ text: 'hello <b>', look: {} }])
  expect(ansiPieces('')).toEqual([])
})

test('colours and styles', () => {
  expect(ansiPieces(`${esc}[1;31mred${esc}[0m and ${esc}[92mbright${esc}[39m`)).toEqual([
    { text: 'red', look: { bold: true, color: 'var(--ansi-1)' } },
    { text: ' and ', look: {} },
    { text: 'bright', look: { color: 'var(--ansi-10)' } },
  ])
  expect(ansiPieces(`${esc}[38;5;196;4mx`)[0]?.look).toEqual({ color: 'rgb(255 0 0)', underline: true })
  expect(ansiPieces(`${esc}[48;2;1;2;300mx`)[0]?.look).toEqual({ background: 'rgb(1 2 255)' })
  expect(colorOf(244)).toBe('rgb(128 128 128)')
})

test('other sequences vanish', () => {
  expect(plainText(`${esc}[2K${esc}]0;title\x07a${esc}[10;5Hb\x07${esc}(B`)).toBe('ab')
  expect(plainText(`${esc}[3`)).toBe('3')
})

test('a progress bar shows what it wrote last', () => {
  expect(plainText('10%\r50%\r100%\r')).toBe('100%')
  expect(ansiPieces('a\rb').map((p) => p.text)).toEqual(['b'])
})
