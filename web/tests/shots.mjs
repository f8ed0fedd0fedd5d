// `npm run shots [folder]`: pictures of each page at two sizes, light and dark.

import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { launchChromium } from './browser/chromium.mjs'
import { backoffCamera, makeCamera } from './mock/cameras.mjs'
import { MockServer } from './mock/server.mjs'

const folder = process.argv[2] ?? 'node_modules/.cache/shots'
const SIZES = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }

const full = new MockServer()
const door = makeCamera({ id: 'door', name: 'Front door', sources: [{ url: 'rtsp://127.0.0.1:8554/door' }, { url: 'rtsp://127.0.0.1:8554/door' }] })
door.status.viewers = 3
full.add(door)
full.add(makeCamera({ id: 'yard', name: 'Back yard', url: 'rtsp://127.0.0.1:8554/yard', origin: 'file' }))
full.add(makeCamera({ id: 'garage', name: 'Garage', url: 'rtsp://127.0.0.1:8554/hevc' }))
full.add(backoffCamera('gate', 'Gate', 'connect: the camera refuses the connection', 40))
full.add(makeCamera({ id: 'shed', name: '', url: 'rtsp://192.168.1.60/live' }))
full.add(makeCamera({ id: 'attic', name: 'Attic', url: 'rtsp://192.168.1.61/live', enabled: false }))
const empty = new MockServer()
await Promise.all([full.start(), empty.start()])
await mkdir(folder, { recursive: true })

const PAGES = {
  grid: async (page) => {
    await page.goto(full.url)
    await page.waitForTimeout(4500)
  },
  empty: (page) => page.goto(empty.url),
  player: async (page) => {
    await page.goto(`${full.url}/camera/door`)
    await page.waitForTimeout(3500)
  },
  h265: async (page) => {
    await page.goto(`${full.url}/camera/garage`)
    await page.waitForTimeout(1000)
  },
  add: async (page) => {
    await page.goto(full.url)
    await page.getByTestId('add-camera').click()
    await page.getByTestId('field-url').last().fill('rtsp://admin:pa@ss@192.168.1.20/yard')
    await page.getByTestId('field-url').last().blur()
    await page.getByTestId('probe-button').click()
    await page.waitForTimeout(800)
  },
  refused: async (page) => {
    await page.goto(empty.url)
    await page.getByTestId('field-url').fill('rtsp://192.168.1.20/stream1')
    await page.getByTestId('probe-button').click()
    await page.waitForTimeout(800)
  },
  remove: async (page) => {
    await page.goto(full.url)
    await page.getByTestId('tile-remove').first().click()
    await page.waitForTimeout(300)
  },
  gone: async (page) => {
    await page.goto(`${full.url}/watch/nowhere`)
    await page.waitForTimeout(800)
  },
}

const wanted = process.argv[3]?.split(',') ?? Object.keys(PAGES)
const browser = await launchChromium()
for (const colorScheme of ['light', 'dark']) {
  for (const [size, viewport] of Object.entries(SIZES)) {
    const context = await browser.newContext({ viewport, colorScheme })
    for (const name of wanted) {
      const page = await context.newPage()
      page.on('pageerror', (err) => console.error(name, err))
      page.on('console', (message) => message.type() === 'error' && console.error(name, message.text()))
      await PAGES[name](page)
      await page.waitForTimeout(200)
      await page.screenshot({ path: path.join(folder, `${name}-${size}-${colorScheme}.png`), fullPage: size === 'phone' })
      await page.close()
    }
    await context.close()
  }
}
await browser.close()
await Promise.all([full.stop(), empty.stop()])
