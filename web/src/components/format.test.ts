import { describe, expect, test } from 'vitest'
import { absoluteTime, bytesForInput, characters, formatBytes, formatDuration, formatMoment, parseBytes, relativeTime } from './format'

describe('bytes', () => {
  test('format', () => {
    expect(formatBytes(0)).toBe('0 B')
    expect(formatBytes(1023)).toBe('1023 B')
    expect(formatBytes(1536)).toBe('1.5 KiB')
    expect(formatBytes(17_179_869_184)).toBe('16 GiB')
    expect(formatBytes(1_234_567_890)).toBe('1.15 GiB')
  })
  test('parse', () => {
    expect(parseBytes('16 GiB')).toBe(17_179_869_184)
    expect(parseBytes('16g')).toBe(17_179_869_184)
    expect(parseBytes(' 1.5 TiB ')).toBe(1.5 * 1024 ** 4)
    expect(parseBytes('500 MB')).toBe(500_000_000)
    expect(parseBytes('1,024')).toBe(1024)
    expect(parseBytes('12 B')).toBe(12)
  })
  test('refuse what is no size', () => {
    for (const text of ['', 'x', '-1', '1.2.3', '5 GX', '10 GiB extra', '99999999 EiB']) expect(parseBytes(text), text).toBeNull()
  })
  test('what an input shows is what it reads back', () => {
    for (const bytes of [0, 1, 1023, 1024, 1536, 16 * 1024 ** 3, 123_456_789]) {
      expect(parseBytes(bytesForInput(bytes))).toBe(bytes)
    }
  })
})

describe('times', () => {
  const now = Date.UTC(2026, 0, 10, 12)
  test('relative', () => {
    expect(relativeTime(now - 20_000, now, 'en')).toBeNull()
    expect(relativeTime(now - 5 * 60_000, now, 'en')).toBe('5 minutes ago')
    expect(relativeTime(now - 5 * 60_000, now, 'zh')).toBe('5 分钟前')
    expect(relativeTime(now + 3 * 86_400_000, now, 'en')).toBe('in 3 days')
    expect(relativeTime(now + 20_000, now, 'en', true)).toBe('in 20 seconds')
    expect(relativeTime(now, now, 'en', true)).toBeNull()
  })
  test('absolute names the year', () => {
    expect(absoluteTime(now, 'en')).toContain('2026')
  })
})

test('durations', () => {
  expect(formatDuration(0, 'en')).toBe('0 s')
  expect(formatDuration(3661, 'en')).toBe('1 h 1 min')
  expect(formatDuration(86_400, 'en')).toBe('1 d')
  expect(formatDuration(0, 'zh')).toBe('0 秒')
  expect(formatDuration(3661, 'zh')).toBe('1 小时 1 分')
})

test('characters, not UTF-16 units', () => {
  expect(characters('标签🐈')).toBe(3)
})

test('places in sounds', () => {
  expect(formatMoment(0.354, 'en')).toBe('0.35 s')
  expect(formatMoment(0, 'en')).toBe('0 s')
  expect(formatMoment(65, 'en')).toBe('1 min 5 s')
})
