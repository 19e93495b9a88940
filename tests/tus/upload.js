// upload.js URL TOKEN FILE STOP: uploads the file. With STOP the program ends itself after so many bytes were sent, as if it
// had been killed; started again it goes on from the address that it wrote beside the file.
import { createReadStream, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { Upload } from 'tus-js-client'

const [url, token, file, stop] = process.argv.slice(2)
const kept = `${file}.upload`
const upload = new Upload(createReadStream(file), {
  endpoint: url,
  uploadUrl: existsSync(kept) ? readFileSync(kept, 'utf8') : null,
  uploadSize: statSync(file).size,
  chunkSize: 1 << 20,
  retryDelays: [100, 500, 1000, 2000, 4000],
  headers: { Authorization: `Bearer ${token}` },
  metadata: { filename: 'large.bin' },
  onUploadUrlAvailable: () => writeFileSync(kept, upload.url),
  onAfterResponse: (request, response) => {
    const offset = Number(response.getHeader('Upload-Offset') ?? 0)
    console.log(`${request.getMethod()} ${response.getStatus()} ${offset}`)
    if (stop && request.getMethod() === 'PATCH' && offset >= Number(stop)) process.exit(9)
  },
  onError: (error) => {
    console.error(String(error))
    process.exit(1)
  },
  onSuccess: () => console.log(`done ${upload.url}`),
})
upload.start()
