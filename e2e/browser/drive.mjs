// Opens a page in headless Chromium and does in it what lines of JSON on standard
// input say, one after the other, until that ends; each is answered by one line:
//
//   node drive.mjs --url URL [--script FILE --reader EXPRESSION]
//
//   {"do": "look"}                             what the page shows
//   {"do": "click", "testId": ID}              a press of a button
//   {"do": "clickTime", "at": UNIX_MS}         a click on the bar of time
//   {"do": "hoverTime", "at": UNIX_MS}         the pointer over it
//   {"do": "press", "key": KEY}
//   {"do": "select", "testId": ID, "value": V}
//   {"do": "fill", "testId": ID, "value": V}
//   {"do": "download", "testId": ID, "file": PATH}
//   {"do": "shot", "file": PATH}

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import { parseArgs } from 'node:util';

// The web app's own tests pin the version.
const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');

const { values: options } = parseArgs({
  options: { url: { type: 'string' }, script: { type: 'string' }, reader: { type: 'string' } },
});

const executablePath = (process.env.PATH ?? '').split(path.delimiter)
  .map((folder) => path.join(folder, 'chromium'))
  .find((file) => existsSync(file));
if (!executablePath) {
  throw new Error('chromium is not in PATH: apt-get install chromium');
}

/** Runs in the page. */
function look() {
  const text = (id) => document.querySelector(`[data-testid="${id}"]`)?.innerText ?? '';
  const video = document.querySelector('[data-testid=player-video]');
  const bar = document.querySelector('[data-testid=timeline-bar]');
  return {
    text: document.body.innerText,
    bar: { ...bar?.dataset },
    value: bar?.getAttribute('aria-valuetext') ?? '',
    legend: text('timeline-legend'),
    scrub: text('scrub-text'),
    scrubPictures: Number(document.querySelector('[data-testid=scrub]')?.dataset.picture ?? 0),
    state: video?.dataset.state ?? '',
    wallMs: Number(video?.dataset.wallMs ?? 0),
    time: video?.currentTime ?? 0,
    rate: video?.playbackRate ?? 0,
    width: video?.videoWidth ?? 0,
    clock: video?.videoWidth > 0 && window.readClock ? window.readClock(video) : null,
    boxes: { ...document.querySelector('canvas.boxes')?.dataset },
    page: window.pageMark ??= Math.random(),
  };
}

async function spot(page, at) {
  const bar = page.getByTestId('timeline-bar');
  const box = await bar.boundingBox();
  const { from, to } = await bar.evaluate((element) => ({ from: Number(element.dataset.from), to: Number(element.dataset.to) }));
  return [box.x + ((at - from) / (to - from)) * box.width, box.y + 55];
}

const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--autoplay-policy=no-user-gesture-required'],
});
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, timezoneId: 'Europe/Berlin' });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  if (options.script) {
    const script = readFileSync(options.script, 'utf8').replace(/^export /gm, '');
    await page.addInitScript(`{ ${script}\nwindow.readClock = ${options.reader}; }`);
  }
  await page.goto(options.url, { waitUntil: 'domcontentloaded' });
  await page.getByTestId('timeline-bar').waitFor();
  const actions = {
    look: () => {},
    click: ({ testId }) => page.getByTestId(testId).click(),
    clickTime: async ({ at }) => page.mouse.click(...(await spot(page, at))),
    hoverTime: async ({ at }) => page.mouse.move(...(await spot(page, at))),
    press: ({ key }) => page.keyboard.press(key),
    select: ({ testId, value }) => page.getByTestId(testId).selectOption(value),
    fill: async ({ testId, value }) => {
      await page.getByTestId(testId).fill(value);
      await page.getByTestId(testId).blur();
    },
    download: async ({ testId, file }) => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId(testId).click()]);
      await download.saveAs(file);
    },
    shot: ({ file }) => page.screenshot({ path: file }),
  };
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const command = JSON.parse(line);
    let failure = '';
    try {
      await actions[command.do](command);
    } catch (error) {
      failure = String(error);
    }
    process.stdout.write(`${JSON.stringify({ ...(await page.evaluate(look)), failure, errors: errors.slice(0, 10) })}\n`);
  }
} finally {
  await browser.close();
}
