// `npm run shots [folder]`: pictures of each page at two sizes, light and dark.

import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { launchChromium } from './browser/chromium.mjs'
import { MockArchive } from './mock/archive.mjs'
import { backoffCamera, makeCamera, recordingOf } from './mock/cameras.mjs'
import { MockServer } from './mock/server.mjs'

const folder = process.argv[2] ?? 'node_modules/.cache/shots'
const SIZES = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }

const full = new MockServer()
const door = makeCamera({ id: 'door', name: 'Front door', sources: [{ url: 'rtsp://127.0.0.1:8554/door' }, { url: 'rtsp://127.0.0.1:8554/door' }] })
door.status.viewers = 3
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const now = Date.now()
const archive = new MockArchive(now - 41 * DAY)
const gap = (ago, length, cause, detail = '') => archive.gaps.push({ from: now - ago, to: now - ago + length, cause, detail })
gap(40 * DAY, 3 * DAY, 'deleted', 'older than 30 days')
gap(12 * DAY, 30 * HOUR, 'by_request')
gap(5 * DAY, 7 * HOUR, 'disk_full', 'no space left')
gap(27 * HOUR, 2 * HOUR, 'process_down')
for (let n = 0; n < 14; n++) gap(9 * HOUR + n * 11 * MINUTE, 40_000, 'network', 'i/o timeout')
gap(4 * HOUR, 50 * MINUTE, 'disk_error', 'write: input/output error')
gap(47 * MINUTE, 9 * MINUTE, 'camera_off', 'connection refused')
gap(21 * MINUTE, 70_000, 'login_refused', '401 Unauthorized')
gap(14 * MINUTE, 3 * MINUTE, 'process_down')
archive.bookmarks.push({ id: '1', from: now - 31 * MINUTE, to: now - 29 * MINUTE, kind: 'bookmark', name: 'Parcel', keep: true })
archive.bookmarks.push({ id: '2', from: now - 6 * HOUR, to: now - 6 * HOUR, kind: 'event', name: 'Person at the door', keep: false })
full.archives.set('door', archive)
door.record = { mode: 'continuous', max_age: '30d', max_bytes: 500_000_000_000 }
Object.assign(door.status, recordingOf('continuous', true))
full.add(door)
full.add(makeCamera({ id: 'yard', name: 'Back yard', url: 'rtsp://127.0.0.1:8554/yard', origin: 'file' }))
full.add(makeCamera({ id: 'garage', name: 'Garage', url: 'rtsp://127.0.0.1:8554/hevc' }))
full.add(backoffCamera('gate', 'Gate', 'connect: the camera refuses the connection', 40))
full.add(makeCamera({ id: 'shed', name: '', url: 'rtsp://192.168.1.60/live' }))
full.add(makeCamera({ id: 'attic', name: 'Attic', url: 'rtsp://192.168.1.61/live', enabled: false }))
const empty = new MockServer()
await full.start()
await empty.start() // by then the clips are made
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
  timeline: async (page) => {
    await page.goto(`${full.url}/camera/door`)
    await page.waitForTimeout(2500)
    const box = await page.getByTestId('timeline-bar').boundingBox()
    await page.mouse.move(box.x + box.width * 0.62, box.y + 50)
    await page.waitForTimeout(1200)
  },
  past: async (page) => {
    await page.goto(`${full.url}/camera/door`)
    await page.waitForTimeout(1500)
    const box = await page.getByTestId('timeline-bar').boundingBox()
    await page.mouse.click(box.x + box.width * 0.42, box.y + 50)
    await page.mouse.move(10, 10)
    await page.waitForTimeout(1500)
    await page.keyboard.press('i')
    await page.mouse.click(box.x + box.width * 0.46, box.y + 50)
    await page.waitForTimeout(500)
    await page.keyboard.press('o')
    await page.mouse.move(10, 10)
    await page.waitForTimeout(1500)
  },
  day: async (page) => {
    await page.goto(`${full.url}/camera/door`)
    await page.waitForTimeout(1000)
    await page.getByTestId('span').selectOption({ label: '1 day' })
    await page.getByTestId('gap-summary').click()
    await page.waitForTimeout(1500)
  },
  month: async (page) => {
    await page.goto(`${full.url}/camera/door`)
    await page.waitForTimeout(1000)
    await page.getByTestId('span').selectOption({ label: '1 month' })
    await page.waitForTimeout(1500)
  },
  calendar: async (page) => {
    await page.goto(`${full.url}/camera/door`)
    await page.waitForTimeout(1000)
    await page.getByTestId('calendar-open').click()
    await page.waitForTimeout(700)
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
