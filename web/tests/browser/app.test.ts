import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { backoffCamera, makeCamera } from '../mock/cameras.mjs'
import { Harness, waitForMotion, waitForText } from './harness'

let harness: Harness

beforeAll(async () => {
  harness = await Harness.start()
})
afterAll(() => harness?.stop())
beforeEach(() => harness.reset())

const door = (more: object = {}) => makeCamera({ id: 'door', name: 'Front door', url: 'rtsp://127.0.0.1:8554/door', ...more })

test('from the empty page to a picture: probe, add, tile, player, and on after a restart of the server', async () => {
  await harness.inPage(async (page) => {
    const { mock } = harness
    await page.goto(mock.url)
    await page.getByTestId('field-url').fill('rtsp://admin:p@ss/word@127.0.0.1:8554/door'.replace('/word', '%2Fword'))
    await page.getByTestId('probe-button').click()
    await waitForText(page, 'track', 'H.264 · 640×360 · 25 fps')
    expect(await page.getByTestId('field-id').inputValue()).toBe('door')
    expect(await page.getByTestId('field-url').inputValue()).toBe('rtsp://127.0.0.1:8554/door')
    await page.getByTestId('save-button').click()

    await waitForText(page, 'tile-state', 'Live')
    await waitForText(page, 'tile-meta', 'H.264 · 640×360 · 25 fps')
    expect(mock.requests.find(([method, where]) => method === 'POST' && where === '/cameras')?.[2]).toEqual({
      id: 'door',
      name: '',
      enabled: true,
      on_demand: false,
      sources: [{ name: 'main', url: 'rtsp://127.0.0.1:8554/door', username: 'admin', password: 'p@ss/word', transport: 'auto' }],
    })
    await waitForMotion(page, 'tile-video')

    await page.getByTestId('tile-link').click()
    expect(new URL(page.url()).pathname).toBe('/camera/door')
    await waitForMotion(page, 'player-video')
    await waitForText(page, 'player-latency', /\d s behind/)
    await waitForText(page, 'details', 'TCP')

    await mock.stop()
    await waitForText(page, 'offline-banner', 'The server is not reachable, retrying…')
    await waitForText(page, 'player-message', 'The server is not reachable', 20_000)
    await mock.start()
    await waitForMotion(page, 'player-video', 2, 30_000)
    await page.getByTestId('offline-banner').waitFor({ state: 'hidden' })
    expect(await page.getByTestId('player-video').getAttribute('data-state')).toBe('playing')
  })
}, 80_000)

test('a probe that fails says why, and the camera can be added all the same', async () => {
  await harness.inPage(async (page) => {
    await page.goto(harness.mock.url)
    await page.getByTestId('field-url').fill('rtsp://192.168.1.20/stream1')
    await page.getByTestId('field-url').press('Enter')
    await waitForText(page, 'probe-result', 'Connect: the camera refuses the connection: is RTSP switched on in it?')
    expect(await page.getByTestId('save-button').textContent()).toBe('Add anyway')
    await page.getByTestId('save-button').click()
    await waitForText(page, 'tile-state', 'Connecting')
    await waitForText(page, 'tile-name', 'camera-20')
  })
})

test('what the server refuses stands at its field', async () => {
  await harness.inPage(async (page) => {
    harness.mock.overrides.set('POST /cameras', () => [
      422,
      {
        title: 'Something in the request is wrong',
        detail: 'sources[0].url: has no host',
        errors: [{ location: 'body.sources[0].url', message: 'has no host' }],
      },
    ])
    await page.goto(harness.mock.url)
    await page.getByTestId('field-url').fill('http://192.168.1.20/')
    await page.getByTestId('save-button').click()
    await waitForText(page, 'field-url-error', 'must begin with rtsp:// or rtsps://')
    await page.getByTestId('field-url').fill('rtsp://192.168.1.20/')
    await page.getByTestId('save-button').click()
    await waitForText(page, 'field-url-error', 'Has no host')
    await waitForText(page, 'form-error', 'Something in the request is wrong')
    expect(harness.mock.requests).toHaveLength(1)
  })
})

test('an id that is taken is said at its field, and to people', async () => {
  harness.mock.add(door())
  await harness.inPage(async (page) => {
    const complaints: string[] = []
    page.on('console', (message) => void (message.text().startsWith('[DOM]') && complaints.push(message.text())))
    await page.goto(harness.mock.url)
    await page.getByTestId('add-camera').click()
    await page.getByTestId('field-url').fill('rtsp://127.0.0.1:8554/yard')
    await page.getByTestId('field-id').fill('door')
    await page.getByTestId('more-summary').click()
    await page.getByTestId('field-on-demand').check()
    await page.getByTestId('save-button').click()
    await waitForText(page, 'field-id-error', 'There is already a camera with this id: choose another id')
    expect(await page.getByTestId('form-error').isVisible()).toBe(false)
    expect(harness.mock.requests.at(-1)?.[2]).toMatchObject({ on_demand: true })
    expect(complaints).toEqual([])
  })
})

test('an edit keeps the password that it does not know, and probes with the stored one', async () => {
  harness.mock.add(door({ url: undefined, sources: [{ url: 'rtsp://127.0.0.1:8554/door', username: 'admin', password: 'x' }] }))
  await harness.inPage(async (page) => {
    await page.goto(harness.mock.url)
    await page.getByTestId('tile-edit').click()
    expect(await page.getByTestId('field-password').getAttribute('placeholder')).toBe('unchanged')
    expect(await page.getByTestId('field-password').inputValue()).toBe('')
    await page.getByTestId('probe-button').click()
    await waitForText(page, 'track', 'H.264')
    await page.getByTestId('field-name').fill('Porch')
    await page.getByTestId('more-summary').click()
    await page.getByTestId('field-sub-url').fill('rtsp://127.0.0.1:8554/yard')
    await page.getByTestId('save-button').click()
    await waitForText(page, 'tile-name', 'Porch')
    expect(harness.mock.requests).toEqual([
      ['POST', '/probe', { url: 'rtsp://127.0.0.1:8554/door', username: 'admin', transport: 'auto', camera: 'door', source: 'main' }],
      [
        'PATCH',
        '/cameras/door',
        {
          name: 'Porch',
          enabled: true,
          on_demand: false,
          sources: [
            { name: 'main', url: 'rtsp://127.0.0.1:8554/door', username: 'admin', transport: 'auto' },
            { name: 'sub', url: 'rtsp://127.0.0.1:8554/yard', username: '', transport: 'auto' },
          ],
        },
      ],
    ])
  })
})

test('a new name alone does not touch the connection', async () => {
  harness.mock.add(door())
  await harness.inPage(async (page) => {
    await page.goto(harness.mock.url)
    await page.getByTestId('tile-edit').click()
    await page.getByTestId('field-name').fill('Porch')
    await page.getByTestId('save-button').click()
    await waitForText(page, 'tile-name', 'Porch')
    expect(harness.mock.requests).toEqual([['PATCH', '/cameras/door', { name: 'Porch', enabled: true, on_demand: false }]])
  })
})

test('a link is made, copied, and taken back', async () => {
  const { mock } = harness
  mock.shares.clear()
  mock.add(door())
  await harness.inPage(async (page) => {
    await page.goto(`${mock.url}/camera/door`)
    await page.getByTestId('camera-share').click()
    await page.getByTestId('share-lifetime').selectOption('7d')
    await page.getByTestId('share-make').click()
    await waitForText(page, 'share-url', `${mock.url}/s/TOKEN/watch/door`)
    expect(mock.requests.at(-1)).toEqual(['POST', '/shares', { camera: 'door', action: 'watch', expires_in: '7d', name: '', max_viewers: 0 }])
    expect(await page.getByTestId('share-archive-url').count()).toBe(0)
    await waitForText(page, 'share', 'for 7 days more')
    await page.getByTestId('share-revoke').click()
    await page.getByTestId('share').waitFor({ state: 'detached' })
    await page.getByTestId('share-url').waitFor({ state: 'detached' })
    expect(mock.shares.size).toBe(0)
  })
})

test('a link to recordings has a name, a limit of viewers and the address of the recordings', async () => {
  const { mock } = harness
  mock.shares.clear()
  mock.add(door())
  await harness.inPage(async (page) => {
    await page.goto(`${mock.url}/camera/door`)
    await page.getByTestId('camera-share').click()
    await page.getByTestId('share-action').selectOption('archive')
    await page.getByTestId('share-name').fill('For the neighbours')
    await page.getByTestId('share-viewers').fill('some')
    await page.getByTestId('share-make').click()
    await waitForText(page, 'share-viewers-error', 'A number up to 20,000')
    expect(mock.requests).toEqual([])
    await page.getByTestId('share-viewers').fill('5')
    await page.getByTestId('share-make').click()
    await waitForText(page, 'share-archive-url', `${mock.url}/s/TOKEN/archive/door/index.m3u8`)
    await waitForText(page, 'share-url', `${mock.url}/s/TOKEN/watch/door`)
    expect(mock.requests.at(-1)).toEqual(['POST', '/shares', { camera: 'door', action: 'archive', expires_in: '24h', name: 'For the neighbours', max_viewers: 5 }])
    await waitForText(page, 'share', 'For the neighbours, recordings too, for 7 days more, at most 5 viewers, 0 now')
  })
})

test('removing asks first', async () => {
  harness.mock.add(door())
  await harness.inPage(async (page) => {
    await page.goto(harness.mock.url)
    await page.getByTestId('tile-remove').click()
    await waitForText(page, 'confirm-dialog', /links to it that were given away stop working.*recorded of it stays with its bookmarks.*with the id “door”/)
    await page.keyboard.press('Escape')
    await page.getByTestId('confirm-dialog').waitFor({ state: 'detached' })
    expect(harness.mock.cameras.size).toBe(1)
    await page.getByTestId('tile-remove').click()
    await page.getByTestId('confirm-button').click()
    await page.getByTestId('empty-state').waitFor()
    expect(harness.mock.cameras.size).toBe(0)
  })
})

test('a camera of the configuration file is shown, and cannot be changed', async () => {
  harness.mock.add(door({ origin: 'file' }))
  await harness.inPage(async (page) => {
    await page.goto(harness.mock.url)
    await page.getByTestId('tile-read-only').waitFor()
    expect(await page.getByTestId('tile-remove').isVisible()).toBe(false)
    await page.getByTestId('tile-edit').click()
    await waitForText(page, 'read-only-notice', 'comes from the configuration file')
    expect(await page.getByTestId('field-url').isDisabled()).toBe(true)
    expect(await page.getByTestId('save-button').count()).toBe(0)
  })
})

test('a camera in back-off says why and when it is tried again', async () => {
  harness.mock.add(backoffCamera('gate', 'Gate', 'the camera refuses the connection', 40))
  await harness.inPage(async (page) => {
    await page.goto(harness.mock.url)
    await waitForText(page, 'tile-state', 'Backoff')
    await waitForText(page, 'tile-message', /The camera refuses the connection\. Next try in \d+ s/)
  })
})

test('beside its picture, a camera in back-off is explained once', async () => {
  harness.mock.add(backoffCamera('gate', 'Gate', 'the camera refuses the connection', 40))
  harness.mock.absent.set('gate', [503, { 'Retry-After': '1' }])
  await harness.inPage(async (page) => {
    for (const where of ['camera', 'watch']) {
      await page.goto(`${harness.mock.url}/${where}/gate`)
      await waitForText(page, 'player-message', /The camera refuses the connection\. Next try in \d+ s/)
      // Once for eyes: what is for ears is not seen.
      await page.getByTestId('player-spoken').evaluate((spoken) => spoken.remove())
      expect((await page.locator('body').innerText()).match(/refuses the connection/g)).toHaveLength(1)
      expect(await page.getByTestId('player-hint').innerText()).toBe('')
    }
  })
  harness.mock.absent.clear()
})

test('over the picture an error is a sentence, and beside it are the words of the machine too', async () => {
  harness.mock.add(backoffCamera('gate', 'Gate', 'the camera refuses the connection (connect: dial tcp 127.0.0.1:8554: connect: connection refused)', 40))
  harness.mock.absent.set('gate', [503, { 'Retry-After': '1' }])
  await harness.inPage(async (page) => {
    await page.goto(`${harness.mock.url}/camera/gate`)
    await waitForText(page, 'player-message', /^The camera refuses the connection\. Next try in \d+ s$/)
    await waitForText(page, 'details-reason', /connection \(connect: dial tcp .* refused\)\. Next try in/)
  })
  harness.mock.absent.clear()
})

test('of a camera that there is not, the page says only that', async () => {
  harness.mock.add(door())
  await harness.inPage(async (page) => {
    await page.goto(`${harness.mock.url}/camera/nope`)
    await waitForText(page, 'camera-missing', 'There is no camera “nope”. See all cameras')
    expect(await page.getByTestId('player').isVisible()).toBe(false)
    expect((await page.locator('main').innerText()).match(/there is no/gi)).toHaveLength(1)
    await page.getByTestId('camera-missing').getByRole('link').click()
    await page.getByTestId('tile').waitFor()
  })
})

test('on a phone the badges of a camera leave its name whole', async () => {
  harness.mock.add(backoffCamera('gate', 'Gate of the farm', 'the camera refuses the connection', 40))
  await harness.inPage(
    async (page) => {
      await page.goto(`${harness.mock.url}/camera/gate`)
      await waitForText(page, 'camera-state', 'Backoff')
      const title = page.getByTestId('camera-title')
      expect(await title.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0)
      const [name, badge] = [await title.boundingBox(), await page.getByTestId('camera-state').boundingBox()]
      expect(badge?.y).toBeGreaterThanOrEqual((name?.y ?? 0) + (name?.height ?? 0))
      expect(name?.height).toBeLessThan(40)
      expect(await overflow(page)).toBe(0)
    },
    { viewport: { width: 390, height: 844 }, isMobile: true },
  )
})

test('H.265 is explained where the browser cannot play it', async () => {
  harness.mock.add(makeCamera({ id: 'garage', url: 'rtsp://127.0.0.1:8554/hevc' }))
  await harness.inPage(async (page) => {
    await page.goto(`${harness.mock.url}/camera/garage`)
    await waitForText(page, 'player-message', 'This browser cannot play H.265. Try Safari, or Firefox or Edge')
    await page.goto(harness.mock.url)
    await waitForText(page, 'tile-message', 'This browser cannot play H.265')
  })
})

test('beside H.265, the H.264 source is played and the page says so', async () => {
  harness.mock.add(
    makeCamera({ id: 'garage', sources: [{ url: 'rtsp://127.0.0.1:8554/hevc' }, { url: 'rtsp://127.0.0.1:8554/door' }] }),
  )
  await harness.inPage(async (page) => {
    await page.goto(`${harness.mock.url}/watch/garage`)
    await waitForMotion(page, 'player-video')
    await waitForText(page, 'player-notice', 'the camera’s H.264 source is shown instead')
  })
})

test('a player waits for a camera that is not there yet, and then plays', async () => {
  await harness.inPage(async (page) => {
    await page.goto(`${harness.mock.url}/watch/door`)
    await waitForText(page, 'player-message', 'There is no such camera')
    harness.mock.absent.set('door', [503, { 'Retry-After': '1' }])
    harness.mock.add(door())
    await waitForText(page, 'player-message', 'Waiting for the camera’s first picture')
    harness.mock.absent.clear()
    await waitForMotion(page, 'player-video')
  })
})

test('the viewer can pause, unmute, and go back to live', async () => {
  harness.mock.add(door())
  await harness.inPage(async (page) => {
    await page.goto(`${harness.mock.url}/watch/door`)
    await waitForMotion(page, 'player-video')
    await page.keyboard.press('m')
    expect(await video(page, 'muted')).toBe(false)
    await page.keyboard.press(' ')
    expect(await video(page, 'paused')).toBe(true)
    const pausedAt = Number(await video(page, 'currentTime'))
    await page.waitForFunction(() => Number(document.querySelector('video')?.dataset.latencyMs) > 6_500)
    const jumpedTo = await page.evaluate(() => {
      document.querySelector<HTMLElement>('[data-testid=jump-live]')?.click()
      return document.querySelector('video')?.currentTime ?? 0
    })
    expect(jumpedTo - pausedAt).toBeGreaterThan(2)
    await waitForMotion(page, 'player-video')
  })
})

test('pictures stop in a hidden page and begin again at live', async () => {
  harness.mock.add(door())
  await harness.inPage(async (page) => {
    await page.goto(harness.mock.url)
    await waitForMotion(page, 'tile-video')
    await setHidden(page, true)
    await page.waitForFunction(() => document.querySelector('video')?.getAttribute('data-state') === 'stopped')
    expect(await video(page, 'readyState')).toBe(0)
    await setHidden(page, false)
    await waitForMotion(page, 'tile-video')
  })
})

test('a stream that breaks the decoder is mended without a new session', async () => {
  harness.mock.add(door())
  await harness.inPage(async (page) => {
    let segments = 0
    harness.mock.spoil = (bytes: Buffer) => {
      // The third segment sends the decoder to look for its samples where there is nothing.
      if (++segments === 3) bytes.writeInt32BE(-1, bytes.indexOf('trun') + 12)
    }
    await page.goto(`${harness.mock.url}/watch/door`)
    await page.waitForFunction(() => Number(document.querySelector('video')?.dataset.mends) > 0)
    await waitForMotion(page, 'player-video', 2)
    expect(await page.getByTestId('player-video').getAttribute('data-sessions')).toBe('1')
  })
})

test('what a server says is text, never markup', async () => {
  const hostile = '<img src=x onerror="document.title=\'owned\'"><b>bold</b>'
  harness.mock.add(door({ name: hostile }))
  const gate = backoffCamera('gate', hostile, hostile, 40)
  gate.status.sources[0].tracks = [{ codec: hostile, playable: false, reason: hostile }]
  harness.mock.add(gate)
  await harness.inPage(async (page) => {
    await page.goto(harness.mock.url)
    await waitForText(page, 'tile-name', hostile)
    await page.goto(`${harness.mock.url}/camera/gate`)
    await waitForText(page, 'camera-title', hostile)
    await waitForText(page, 'track', hostile)
    expect(await page.locator('img, b').count()).toBe(0)
    expect(await page.title()).not.toBe('owned')
  })
})

test.each([
  ['light', '/'],
  ['dark', '/'],
  ['light', '/camera/door'],
])('a phone of 360 pixels (%s) scrolls %s only up and down', async (colorScheme, where) => {
  harness.mock.add(door({ name: 'A camera with quite a long name, in the garden behind the house' }))
  harness.mock.add(backoffCamera('gate', '', 'averyveryverylongerrorwithoutanyspacesinit'.repeat(3), 40))
  await harness.inPage(
    async (page) => {
      await page.goto(harness.mock.url + where)
      await page.getByTestId(where === '/' ? 'tile' : 'details').first().waitFor()
      expect(await overflow(page)).toBe(0)
      if (where === '/') await page.getByTestId('tile-edit').first().click()
      else await page.getByTestId('camera-edit').click()
      await page.getByTestId('more-summary').click()
      expect(await overflow(page)).toBe(0)
      expect(await page.getByTestId('camera-dialog').evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth)).toBe(0)
    },
    { viewport: { width: 360, height: 740 }, colorScheme: colorScheme as 'light' | 'dark', hasTouch: true, isMobile: true },
  )
})

test('the empty page fits a phone of 360 pixels', async () => {
  await harness.inPage(
    async (page) => {
      await page.goto(harness.mock.url)
      await page.getByTestId('empty-state').waitFor()
      expect(await overflow(page)).toBe(0)
      await page.getByTestId('use-simulated-camera').click()
      expect(await page.getByTestId('field-id').inputValue()).toBe('door')
    },
    { viewport: { width: 360, height: 740 }, isMobile: true },
  )
})

test('the theme follows the system until the reader chooses, and the choice lasts', async () => {
  await harness.inPage(
    async (page) => {
      await page.goto(harness.mock.url)
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      const dark = await background()
      await page.getByTestId('theme-toggle').click() // light
      expect(await background()).not.toBe(dark)
      await page.reload()
      await page.getByTestId('theme-toggle').waitFor()
      expect(await background()).not.toBe(dark)
    },
    { colorScheme: 'dark' },
  )
})

function video(page: Page, property: 'muted' | 'paused' | 'currentTime' | 'readyState'): Promise<unknown> {
  return page.evaluate((name) => document.querySelector('video')?.[name], property)
}

function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}

function setHidden(page: Page, hidden: boolean): Promise<void> {
  return page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => value })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
}
