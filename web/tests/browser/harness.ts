import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { launchChromium } from './chromium.mjs'
import { MockServer } from '../mock/server.mjs'

/** One browser and one mock server; each page is a fresh profile. */
export class Harness {
  private constructor(
    readonly browser: Browser,
    readonly mock: MockServer,
  ) {}

  static async start(): Promise<Harness> {
    const mock = new MockServer()
    const [browser] = await Promise.all([launchChromium(), mock.start()])
    return new Harness(browser, mock)
  }

  async stop(): Promise<void> {
    await this.browser.close()
    await this.mock.stop()
  }

  /** Runs a test in a page of its own; what the page throws, or its policy blocks, fails the test. */
  async inPage(run: (page: Page) => Promise<void>, options: BrowserContextOptions = {}): Promise<void> {
    const context = await this.browser.newContext({ viewport: { width: 1000, height: 700 }, ...options })
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (err) => faults.push(err.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) faults.push(message.text())
    })
    try {
      await run(page)
      expect(faults).toEqual([])
    } finally {
      await context.close()
    }
  }

  reset(): void {
    this.mock.cameras.clear()
    this.mock.overrides.clear()
    this.mock.absent.clear()
    this.mock.spoil = null
    this.mock.requests.length = 0
    this.mock.archives.clear()
    this.mock.archived.length = 0
    this.mock.clipDelayMs = 0
    this.mock.strangeCodec = false
  }
}

/** Waits until the video's clock has moved on by some seconds. */
export async function waitForMotion(page: Page, testId: string, seconds = 1, timeout = 20_000): Promise<void> {
  const handle = await page.getByTestId(testId).first().elementHandle()
  const from = await page.evaluate((video) => (video as HTMLVideoElement).currentTime, handle)
  await page.waitForFunction(
    ([video, start, by]) => {
      const element = video as HTMLVideoElement
      return element.currentTime > start + by && element.videoWidth > 0
    },
    [handle, from, seconds] as const,
    { timeout },
  )
}

export async function waitForText(page: Page, testId: string, text: string | RegExp, timeout = 10_000): Promise<void> {
  await page.getByTestId(testId).filter({ hasText: text, visible: true }).first().waitFor({ timeout })
}
