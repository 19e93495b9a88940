/** A sound of a second: 8 kHz, one channel, a tone that swells; the seed makes it another. */
export function wav(seed: number): Buffer {
  const rate = 8000
  const data = Buffer.alloc(rate * 2)
  for (let i = 0; i < rate; i += 1) {
    const swell = Math.sin((Math.PI * i * (1 + (seed % 3))) / rate) ** 2
    data.writeInt16LE(Math.round(20_000 * swell * Math.sin((2 * Math.PI * (300 + 100 * seed) * i) / rate)), i * 2)
  }
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + data.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}
