import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { MockArchive } from '../mock/archive.mjs'
import { backoffCamera, makeCamera, recordingOf } from '../mock/cameras.mjs'
import { Harness, waitForMotion, waitForText } from './harness'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

let harness: Harness
let archive: MockArchive
let now = 0

beforeAll(async () => {
  harness = await Harness.start()
})
afterAll(() => harness?.stop())
beforeEach(() => {
  harness.reset()
  now = Date.now()
  archive = new MockArchive(now - 10 * DAY)
  archive.gaps.push(
    { from: now - 3 * DAY, to: now - 2 * DAY, cause: 'disk_full', detail: 'no space left' },
    { from: now - 30 * MINUTE, to: now - 20 * MINUTE, cause: 'camera_off', detail: 'connection refused' },
    { from: now - 10 * MINUTE, to: now - 8 * MINUTE, cause: 'process_down', detail: '' },
  )
  archive.bookmarks.push({ id: '7', from: now - 40 * MINUTE, to: now - 39 * MINUTE, kind: 'bookmark', name: 'Parcel', keep: true })
  const door = makeCamera({ id: 'door', name: 'Front door', url: 'rtsp://127.0.0.1:8554/door', record: { mode: 'continuous', max_age: '30d', max_bytes: 0 } })
  Object.assign(door.status, recordingOf('continuous', true))
  harness.mock.add(door)
  harness.mock.archives.set('door', archive)
})

const bar = (page: Page) => page.getByTestId('timeline-bar')

/** A number that the bar or the video says of itself. */
async function said(page: Page, testId: string, name: string): Promise<number> {
  return Number(await page.getByTestId(testId).getAttribute(name))
}

const wall = (page: Page): Promise<number> => said(page, 'player-video', 'data-wall-ms')

async function open(page: Page, path = '/camera/door'): Promise<void> {
  await page.goto(harness.mock.url + path)
  await page.locator('[data-testid=timeline-bar][data-known=true]').waitFor()
}

/** Where a moment is on the bar, in the page. */
async function spot(page: Page, at: number): Promise<{ x: number; y: number }> {
  const box = await bar(page).boundingBox()
  const [from, to] = [await said(page, 'timeline-bar', 'data-from'), await said(page, 'timeline-bar', 'data-to')]
  if (!box) throw new Error('there is no bar')
  return { x: box.x + ((at - from) / (to - from)) * box.width, y: box.y + 55 }
}

async function clickAt(page: Page, at: number): Promise<void> {
  const { x, y } = await spot(page, at)
  await page.mouse.click(x, y)
}

async function playsFrom(page: Page, at: number, slackMs = 15 * SECOND): Promise<void> {
  await page.waitForFunction(
    ([from, slack]) => {
      const video = document.querySelector<HTMLVideoElement>('[data-testid=player-video]')
      const shown = Number(video?.dataset.wallMs)
      return video?.dataset.state === 'playing' && Math.abs(shown - from) < slack
    },
    [at, slackMs] as const,
    { timeout: 20_000 },
  )
}

test('footage, gaps with their cause and bookmarks are shown, in words too', async () => {
  await harness.inPage(async (page) => {
    await open(page)
    await waitForText(page, 'timeline-legend', 'Footage')
    await waitForText(page, 'timeline-legend', 'Camera or network')
    await waitForText(page, 'timeline-legend', 'Drover was not running')
    expect(await page.getByTestId('timeline-legend').textContent()).not.toContain('Disk')
    await page.getByTestId('gap-summary').click()
    await waitForText(page, 'gap', 'Camera was off, 10 min: connection refused')
    await page.getByTestId('span').selectOption({ label: '1 week' })
    await waitForText(page, 'timeline-legend', 'Disk')
    await waitForText(page, 'camera-recording', 'Rec')
    await waitForText(page, 'recording', '99.16 %')

    const { x, y } = await spot(page, now - 2.5 * DAY)
    await page.mouse.move(x, y)
    await waitForText(page, 'scrub-text', 'Disk was full')
    await waitForText(page, 'scrub-text', 'no space left')
  })
})

test('how much is recorded is told with the time that it is of', async () => {
  await harness.inPage(async (page) => {
    await open(page)
    await waitForText(page, 'recording', 'Last 24 h99.16 %')
  })
  harness.mock.archives.set('door', Object.assign(new MockArchive(Date.now() - 8 * MINUTE), { gaps: [{ from: now - 6 * MINUTE, to: now - 2 * MINUTE, cause: 'camera_off', detail: '' }] }))
  await harness.inPage(async (page) => {
    await open(page)
    await waitForText(page, 'recording', /Last 8 min(49|50|51)(\.\d+)? %/)
  })
})

test('a click plays that moment in the same player, steps go from there, and Live goes back', async () => {
  await harness.inPage(async (page) => {
    await open(page)
    await waitForMotion(page, 'player-video')
    const at = now - 42 * MINUTE
    await clickAt(page, at)
    await playsFrom(page, at)
    await waitForMotion(page, 'player-video')
    expect(await bar(page).getAttribute('data-time')).toBe('past')
    expect(await page.getByTestId('player').getAttribute('data-time')).toBe('past')

    await page.getByTestId('skip-back').click()
    await playsFrom(page, at - 8 * SECOND, 8 * SECOND)
    await bar(page).focus()
    await page.keyboard.press('Shift+ArrowRight')
    await playsFrom(page, at + 52 * SECOND, 10 * SECOND)
    expect(await bar(page).getAttribute('aria-valuetext')).toMatch(/\d+ \w{3} \d{4}, \d\d:\d\d:\d\d/)

    await page.getByTestId('rate').selectOption('4')
    const before = await wall(page)
    await page.waitForTimeout(1500)
    expect((await wall(page)) - before).toBeGreaterThan(3 * SECOND)

    await page.keyboard.press('.')
    const still = await page.getByTestId('player-video').evaluate((video: HTMLVideoElement) => [video.paused, video.currentTime] as const)
    expect(still[0]).toBe(true)
    await page.keyboard.press('.')
    expect((await page.getByTestId('player-video').evaluate((video: HTMLVideoElement) => video.currentTime)) - still[1]).toBeCloseTo(1 / 25, 3)

    await page.getByTestId('timeline-live').click()
    await page.locator('[data-testid=timeline-bar][data-time=live]').waitFor()
    await waitForMotion(page, 'player-video')
    expect(await page.getByTestId('player-video').evaluate((video: HTMLVideoElement) => video.playbackRate)).toBeLessThan(1.2)
    await waitForText(page, 'player-latency', /behind/)
  })
}, 90_000)

test('a click into a gap plays what comes behind it, even a day later', async () => {
  await harness.inPage(async (page) => {
    await open(page)
    await clickAt(page, now - 25 * MINUTE)
    await playsFrom(page, now - 20 * MINUTE, 6 * SECOND)
    await page.getByTestId('span').selectOption({ label: '1 week' })
    await page.waitForTimeout(400)
    await clickAt(page, now - 2.8 * DAY)
    await playsFrom(page, now - 2 * DAY, 10 * SECOND)
  })
}, 60_000)

test('playing on over a gap goes over it, and what has caught up says so', async () => {
  await harness.inPage(async (page) => {
    await open(page)
    await page.getByTestId('span').selectOption({ label: '1 h' })
    await clickAt(page, now - 30 * MINUTE - 4 * SECOND)
    await page.getByTestId('rate').selectOption('4')
    await page.waitForFunction((after) => Number(document.querySelector<HTMLElement>('[data-testid=player-video]')?.dataset.wallMs) > after, now - 20 * MINUTE, { timeout: 20_000 })

    await page.getByTestId('span').selectOption({ label: '10 min' })
    await page.keyboard.press('l')
    await page.waitForTimeout(400)
    await clickAt(page, Date.now() - 16 * SECOND)
    await playsFrom(page, Date.now() - 16 * SECOND)
    await page.getByTestId('rate').selectOption('8')
    await waitForText(page, 'timeline-notice', 'as far as is recorded', 20_000)
    await page.getByTestId('notice-action').click()
    await page.locator('[data-testid=timeline-bar][data-time=live]').waitFor()
  })
}, 80_000)

test('the wheel, keys, buttons and a drag change what is looked at', async () => {
  await harness.inPage(async (page) => {
    await open(page)
    const range = async () => [await said(page, 'timeline-bar', 'data-from'), await said(page, 'timeline-bar', 'data-to')] as const
    const [from, to] = await range()
    const point = await spot(page, now - 35 * MINUTE)
    await page.mouse.move(point.x, point.y)
    await page.mouse.wheel(0, -300)
    await page.waitForFunction((span) => {
      const { dataset } = document.querySelector<HTMLElement>('[data-testid=timeline-bar]') ?? {}
      return Number(dataset?.to) - Number(dataset?.from) < span * 0.7
    }, to - from)
    expect(Math.abs((await spot(page, now - 35 * MINUTE)).x - point.x)).toBeLessThan(3)

    const before = await range()
    await page.mouse.down()
    await page.mouse.move(point.x + 120, point.y, { steps: 5 })
    await page.mouse.up()
    await page.waitForTimeout(100)
    const after = await range()
    expect(after[0]).toBeLessThan(before[0])
    expect(after[1] - after[0]).toBeCloseTo(before[1] - before[0], -1)
    expect(await bar(page).getAttribute('data-time')).toBe('live') // a drag is no click

    await page.mouse.move(10, 10)
    for (let i = 0; i < 3; i++) await page.keyboard.press('-')
    await page.waitForTimeout(400)
    const wide = await range()
    expect((wide[1] - wide[0]) / (after[1] - after[0])).toBeCloseTo(8, 0)
    await page.getByTestId('zoom-in').click()
    await page.waitForTimeout(400)
    const close = await range()
    expect((close[1] - close[0]) / (wide[1] - wide[0])).toBeCloseTo(0.5, 1)
    await bar(page).focus()
    await page.keyboard.press('PageUp')
    await page.waitForTimeout(400)
    expect((await range())[0]).toBeLessThan(close[0])
  })
})

test('two fingers zoom, one pans, and a tap plays: on a phone', async () => {
  await harness.inPage(
    async (page) => {
      await open(page)
      const client = await page.context().newCDPSession(page)
      const box = await bar(page).boundingBox()
      if (!box) throw new Error('there is no bar')
      const y = box.y + 50
      const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...x: number[]) =>
        client.send('Input.dispatchTouchEvent', { type, touchPoints: x.map((at, id) => ({ x: at, y, id })) })
      const span = async () => (await said(page, 'timeline-bar', 'data-to')) - (await said(page, 'timeline-bar', 'data-from'))
      const before = await span()
      await touch('touchStart', 150, 200)
      for (const by of [10, 25, 40]) await touch('touchMove', 150 - by, 200 + by)
      await touch('touchEnd')
      await page.waitForTimeout(150)
      expect((await span()) / before).toBeCloseTo(50 / 130, 1)
      const from = await said(page, 'timeline-bar', 'data-from')
      await touch('touchStart', 150)
      for (const x of [170, 200, 230]) await touch('touchMove', x)
      await touch('touchEnd')
      await page.waitForTimeout(150)
      expect(await said(page, 'timeline-bar', 'data-from')).toBeLessThan(from)
      expect(await bar(page).getAttribute('data-time')).toBe('live')
      await page.touchscreen.tap(box.x + 60, y)
      await page.locator('[data-testid=timeline-bar][data-time=past]').waitFor()
      await waitForMotion(page, 'player-video')
      // Nothing sticks out of a narrow screen.
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    },
    { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  )
}, 60_000)

test('scrubbing shows pictures, asked for one at a time', async () => {
  await harness.inPage(async (page) => {
    let atOnce = 0
    let most = 0
    let asked = 0
    await page.route(/\/archive\/door\/frame/, async (route) => {
      most = Math.max(most, ++atOnce)
      asked++
      await new Promise((resolve) => setTimeout(resolve, 60))
      await route.continue()
      atOnce--
    })
    await open(page)
    const start = await spot(page, now - 50 * MINUTE)
    for (let i = 0; i < 60; i++) await page.mouse.move(start.x + 2 * i, start.y)
    await page.waitForFunction(() => Number(document.querySelector<HTMLElement>('[data-testid=scrub]')?.dataset.picture) >= 1)
    expect(most).toBe(1)
    expect(asked).toBeLessThan(40)
    await page.mouse.move(10, 10)
    await page.getByTestId('scrub').waitFor({ state: 'hidden' })

    // The playhead is dragged, too, and what it is left at is played.
    const head = await spot(page, await said(page, 'timeline-bar', 'data-playhead'))
    await page.mouse.move(head.x, head.y)
    await page.mouse.down()
    await page.mouse.move(start.x + 80, start.y, { steps: 6 })
    await page.getByTestId('scrub').waitFor()
    const target = await said(page, 'timeline-bar', 'data-playhead')
    await page.mouse.up()
    await playsFrom(page, target)
  })
}, 60_000)

test('a marked stretch is exported whole, with its size before and its digest behind', async () => {
  await harness.inPage(async (page) => {
    await open(page)
    await clickAt(page, now - 45 * MINUTE)
    await playsFrom(page, now - 45 * MINUTE)
    await page.keyboard.press('i')
    await page.getByTestId('export').waitFor()
    await page.getByTestId('skip-next').click()
    await page.waitForTimeout(700)
    await page.keyboard.press('o')
    await waitForText(page, 'export-estimate', /\d+(\.\d)? s of footage, about \d+(\.\d)? (MB|KB)/)
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('export-start').click()])
    expect(download.suggestedFilename()).toMatch(/^door-\d{4}-\d\d-\d\d-\d{6}\.mp4$/)
    const bytes = await readFile(await download.path())
    expect(bytes.subarray(4, 8).toString()).toBe('ftyp')
    await waitForText(page, 'export-done', 'Saved door-')
    const href = await page.getByTestId('export-digest').getAttribute('href')
    const digest = await (await fetch(harness.mock.url + href)).text()
    expect(digest.split(' ')[0]).toBe(createHash('sha256').update(bytes).digest('hex'))
    await page.keyboard.press('Escape')
    await page.getByTestId('export').waitFor({ state: 'hidden' })
  })
}, 60_000)

test('an export shows how far it is, and can be given up', async () => {
  await harness.inPage(async (page) => {
    harness.mock.clipDelayMs = 150
    await open(page)
    await clickAt(page, now - 50 * MINUTE)
    await page.getByTestId('export-open').click()
    await page.getByTestId('export-start').click()
    await waitForText(page, 'export-progress-text', /of \d/)
    expect(await page.getByTestId('export-progress').evaluate((progress: HTMLProgressElement) => progress.value)).toBeLessThan(1)
    await page.getByTestId('export-cancel').click()
    await page.getByTestId('export-progress').waitFor({ state: 'hidden' })
    expect(await page.getByTestId('export-error').isVisible()).toBe(false)
    expect(await page.getByTestId('export-start').isEnabled()).toBe(true)
  })
})

test('handles and fields mark the stretch', async () => {
  await harness.inPage(async (page) => {
    await open(page)
    await clickAt(page, now - 45 * MINUTE)
    await page.getByTestId('export-open').click()
    const field = page.getByTestId('export-to')
    const before = await field.inputValue()
    const from = Date.parse(`${await page.getByTestId('export-from').inputValue()}Z`)
    const handle = await spot(page, Date.parse(`${before}Z`))
    await page.mouse.move(handle.x + 5, handle.y)
    await page.mouse.down()
    await page.mouse.move(handle.x + 60, handle.y, { steps: 4 })
    await page.mouse.up()
    expect(Date.parse(`${await field.inputValue()}Z`)).toBeGreaterThan(Date.parse(`${before}Z`) + MINUTE)
    await field.fill(new Date(from + 2 * MINUTE).toISOString().slice(0, 19))
    await field.blur()
    await waitForText(page, 'export-estimate', '2 min of footage')
  }, { timezoneId: 'UTC' })
})

test('a stretch is bookmarked, found in the list, and let go', async () => {
  await harness.inPage(async (page) => {
    await open(page)
    await clickAt(page, now - 50 * MINUTE)
    await page.getByTestId('export-open').click()
    await page.getByTestId('bookmark-name').fill('The fox')
    await page.getByTestId('bookmark-keep').check()
    await page.getByTestId('bookmark-name').press('Enter')
    await page.getByTestId('export').waitFor({ state: 'hidden' })
    expect(harness.mock.requests.at(-1)?.[2]).toMatchObject({ name: 'The fox', keep: true })
    await waitForText(page, 'gap-summary', '2 gaps and 2 bookmarks in view')
    await page.getByTestId('gap-summary').click()
    await page.getByTestId('bookmark').filter({ hasText: /The fox, .*, kept/ }).waitFor()
    await page.getByTestId('bookmark-remove').last().click()
    await waitForText(page, 'gap-summary', '2 gaps and 1 bookmark in view')
  })
})

test('where the browser cannot play the first recorded source, it plays the second, or says why not', async () => {
  harness.mock.strangeCodec = true
  await harness.inPage(async (page) => {
    await open(page)
    await clickAt(page, now - 50 * MINUTE)
    await waitForText(page, 'player-message', 'This browser cannot play what was recorded, probably H.265')
    Object.assign(harness.mock.cameras.get('door').record, { sources: ['main', 'sub'] })
    // The answer to the second question is of after the change, and the page has it when it asks a third time.
    for (let asked = 0; asked < 3; asked++) {
      await page.waitForRequest((request) => request.method() === 'GET' && new URL(request.url()).pathname === '/api/v1/cameras')
    }
    await clickAt(page, now - 45 * MINUTE)
    await playsFrom(page, now - 45 * MINUTE)
    expect(harness.mock.archived.some((path) => path.includes('source=sub'))).toBe(true)
  })
}, 60_000)

test('a server without an archive shows no bar of time', async () => {
  harness.mock.overrides.set('GET recordings', () => [404, { title: 'Nothing is recorded here', status: 404, detail: 'this server keeps no archive' }])
  await harness.inPage(async (page) => {
    await page.goto(`${harness.mock.url}/camera/door`)
    await waitForMotion(page, 'player-video')
    await page.getByTestId('timeline').waitFor({ state: 'hidden' })
  })
})

test('behind the last footage of its playlist, what was recorded a day later plays', async () => {
  const hour = Math.floor((now - 6 * HOUR) / HOUR) * HOUR
  archive.gaps.push({ from: hour + 20 * MINUTE, to: hour + 5 * HOUR, cause: 'camera_off', detail: '' })
  await harness.inPage(async (page) => {
    await open(page)
    await page.getByTestId('span').selectOption({ label: '1 day' })
    await page.waitForTimeout(500)
    await clickAt(page, hour + 19 * MINUTE)
    await playsFrom(page, hour + 19 * MINUTE, 2 * MINUTE)
    await page.getByTestId('rate').selectOption('16')
    await page.waitForFunction((after) => Number(document.querySelector<HTMLElement>('[data-testid=player-video]')?.dataset.wallMs) > after, hour + 5 * HOUR, { timeout: 30_000 })
    expect(await bar(page).getAttribute('data-time')).toBe('past')
  })
}, 60_000)

test('times are the viewer’s, with their zone, or UTC', async () => {
  await harness.inPage(
    async (page) => {
      await open(page)
      await waitForText(page, 'time-zone', /^Kabul, UTC\+4:30$/)
      const [hour, minute] = ((await page.getByTestId('time-clock').textContent()) ?? '').split(':').map(Number)
      await page.getByTestId('time-zone').click()
      await waitForText(page, 'time-zone', /^UTC$/)
      const [utcHour, utcMinute] = ((await page.getByTestId('time-clock').textContent()) ?? '').split(':').map(Number)
      const ahead = (((hour ?? 0) - (utcHour ?? 0)) * 60 + (minute ?? 0) - (utcMinute ?? 0) + 1440) % 1440
      expect(Math.abs(ahead - 270)).toBeLessThanOrEqual(1)
      await page.reload()
      await waitForText(page, 'time-zone', /^UTC$/)
    },
    { timezoneId: 'Asia/Kabul' },
  )
})

test('where the viewer’s clocks show UTC there is no zone to choose', async () => {
  await harness.inPage(
    async (page) => {
      await open(page)
      await waitForText(page, 'time-zone', /^UTC$/)
      expect(await page.getByTestId('time-zone').isDisabled()).toBe(true)
      expect(await page.getByTestId('time-zone').getAttribute('title')).toBe('Times are UTC')
    },
    { timezoneId: 'UTC' },
  )
})

test('a day of the calendar is shown whole and played from its first footage', async () => {
  await harness.inPage(async (page) => {
    await open(page)
    await page.getByTestId('calendar-open').click()
    const day = new Date(now - 5 * DAY)
    if (day.getUTCMonth() !== new Date(now).getUTCMonth()) await page.getByTestId('calendar-back').click()
    const cell = page.locator(`[data-testid=calendar-day][data-date="${day.toISOString().slice(0, 10)}"]`)
    await cell.click()
    const start = Date.parse(`${day.toISOString().slice(0, 10)}T00:00:00Z`)
    await playsFrom(page, start)
    expect(Math.abs((await said(page, 'timeline-bar', 'data-to')) - (await said(page, 'timeline-bar', 'data-from')) - DAY)).toBeLessThan(1000)
  }, { timezoneId: 'UTC' })
}, 60_000)

test('a camera that is not recorded offers to be, and the form sends how', async () => {
  harness.mock.archives.clear()
  harness.mock.add(makeCamera({ id: 'door', url: 'rtsp://127.0.0.1:8554/door' }))
  await harness.inPage(async (page) => {
    await open(page)
    await waitForText(page, 'timeline-notice', 'This camera is not recorded.')
    await page.getByTestId('notice-action').click()
    await page.getByTestId('record-summary').click()
    await page.getByTestId('field-record-mode').selectOption('continuous')
    await page.getByTestId('field-record-age').fill('soon')
    await page.getByTestId('save-button').click()
    await waitForText(page, 'field-record-age-error', 'A time like 30 days')
    await page.getByTestId('field-record-age').fill('2 weeks')
    await page.getByTestId('field-record-bytes').fill('500 GB')
    await page.getByTestId('save-button').click()
    await page.getByTestId('camera-dialog').waitFor({ state: 'detached' })
    expect(harness.mock.requests.at(-1)?.[2]).toMatchObject({ record: { mode: 'continuous', max_age: '14d', max_bytes: 500e9 } })
  })
})

test('why recording fails stands in the list and on the page', async () => {
  const camera = harness.mock.cameras.get('door')
  Object.assign(camera.status, { recording: false, recording_state: 'failed', recording_reason: 'the disk is full' })
  await harness.inPage(async (page) => {
    await page.goto(harness.mock.url)
    await waitForText(page, 'tile-recording', 'Not recording')
    expect(await page.getByTestId('tile-recording').getAttribute('title')).toContain('the disk is full')
    await open(page)
    await waitForText(page, 'timeline-notice', 'Nothing is recorded just now: the disk is full')
  })
})

test('what a screen reader speaks of a camera that is away does not count down', async () => {
  harness.mock.add(backoffCamera('gate', 'Gate', 'connect: the camera refuses the connection', 40))
  harness.mock.absent.set('gate', [503, {}])
  await harness.inPage(async (page) => {
    await page.goto(`${harness.mock.url}/camera/gate`)
    await waitForText(page, 'timeline-notice', 'not recorded')
    await waitForText(page, 'player-message', /Next try in \d+ s/)
    await page.evaluate(() => {
      const spoken: string[] = []
      const live = '[role=status], [role=alert], [aria-live]'
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const region = (target instanceof Element ? target : target.parentElement)?.closest(live)
          if (region) spoken.push(region.textContent ?? '')
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true })
      Object.assign(window, { spoken })
    })
    await page.waitForTimeout(6_500)
    expect(await page.evaluate(() => (window as unknown as { spoken: string[] }).spoken)).toEqual([])
    expect(await page.getByTestId('player-spoken').textContent()).toBe('Connect: the camera refuses the connection')
  })
})
