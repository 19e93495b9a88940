import { expect, test } from 'vitest'
import { highlight } from './highlight'

const marked = (path: string, text: string) => highlight(path, text).filter(([, part]) => part).map(([piece, part]) => `${part}:${piece}`)

test('comments, strings, numbers and words of a language', () => {
  expect(marked('src/train.py', 'import torch  # "it"\nx = f(1e-3, "# no", None)\n')).toEqual(['word:import', 'comment:# "it"', 'number:1e-3', 'string:"# no"', 'word:None'])
  expect(marked('run.sh', 'echo $# # count\nif [ 1 ]; then exit 0; fi')).toEqual(['comment:# count', 'word:if', 'number:1', 'word:then', 'word:exit', 'number:0', 'word:fi'])
  expect(marked('a.c', 'int x = 0x1f; /* two\nlines */ char c = \'"\';')).toEqual(['word:int', 'number:0x1f', 'comment:/* two\nlines */', 'word:char', "string:'\"'"])
  expect(marked('Dockerfile', 'FROM debian:12')).toEqual(['word:FROM', 'number:12'])
  expect(marked('config.yaml', 'lr: 0.1 # start\nname: "a#b"')).toEqual(['number:0.1', 'comment:# start', 'string:"a#b"'])
})

test('the pieces are the text; what has no language stays whole', () => {
  const text = 'def f():\n    """never closed\n  return 1'
  expect(highlight('a.py', text).map(([piece]) => piece).join('')).toBe(text)
  expect(highlight('notes.txt', text)).toEqual([[text, null]])
  expect(highlight('a.py', '')).toEqual([])
})
