// `npm run mock`: the mock server by hand, with a few cameras. `npm run dev` finds
// it with DROVER_URL=http://127.0.0.1:8091.

import { backoffCamera, makeCamera } from './cameras.mjs'
import { MockServer } from './server.mjs'

const mock = new MockServer()
if (!process.argv.includes('--empty')) {
  mock.add(makeCamera({ id: 'door', name: 'Front door', url: 'rtsp://127.0.0.1:8554/door' }))
  mock.add(makeCamera({ id: 'yard', name: 'Back yard', url: 'rtsp://127.0.0.1:8554/yard', origin: 'file' }))
  mock.add(makeCamera({ id: 'garage', name: 'Garage', url: 'rtsp://127.0.0.1:8554/hevc' }))
  mock.add(backoffCamera('gate', 'Gate', 'connect: the camera refuses the connection', 40))
}
await mock.start(Number(process.env.PORT ?? 8091))
console.log(`mock server on ${mock.url}`)
