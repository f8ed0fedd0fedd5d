// Opens a page in headless Chromium and says what its <video> shows, as one JSON
// object a line, four times a second, until standard input ends:
//
//   node watch.mjs --url URL [--script FILE --reader EXPRESSION] [--shaka | --framed]
//
// With --shaka the URL is a playlist, and the page an empty one in which Shaka
// Player plays it.
//
// The expression, by means of the script, is a function that reads the number
// which a simulated camera drew into the picture of a <video>, or null.
//
// Framed, the page is in an iframe of a page beside it.
//
// A number on a line of standard input is how many bits per second the page may load
// from then on; 0 for no limit.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

// The web app's package.json pins the versions.
const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const { values: options } = parseArgs({
  options: { url: { type: 'string' }, script: { type: 'string' }, reader: { type: 'string' }, shaka: { type: 'boolean' }, framed: { type: 'boolean' } },
});

const executablePath = (process.env.PATH ?? '').split(path.delimiter)
  .map((folder) => path.join(folder, 'chromium'))
  .find((file) => existsSync(file));
if (!executablePath) {
  throw new Error('chromium is not in PATH: apt-get install chromium');
}

/** Runs in the page: notes the clock in the picture whenever boxes of another frame are drawn. */
function noteDrawn(canvas) {
  const drawn = [];
  let last = '';
  new MutationObserver(() => {
    const { reportMs, lateMs } = canvas.dataset;
    if (!reportMs || reportMs === last) return;
    last = reportMs;
    const video = document.querySelector('video');
    drawn.push({ reportMs: Number(reportMs), lateMs: Number(lateMs), clock: window.readClock ? window.readClock(video) : null });
  }).observe(canvas, { attributes: true });
  return drawn;
}

/** Runs in the page. */
function sample() {
  const video = document.querySelector('video');
  const seen = { text: document.body?.innerText ?? '' };
  if (!video) return seen;
  const quality = video.getVideoPlaybackQuality();
  const canvas = document.querySelector('canvas.boxes');
  if (canvas && !window.drawn) window.drawn = window.noteDrawn(canvas);
  return {
    ...seen,
    drawn: window.drawn ?? [],
    time: video.currentTime,
    frames: quality.totalVideoFrames,
    dropped: quality.droppedVideoFrames,
    width: video.videoWidth,
    height: video.videoHeight,
    audioBytes: video.webkitAudioDecodedByteCount ?? 0,
    stalls: window.stalls ?? [],
    playlist: performance.getEntriesByType('resource').map((entry) => entry.name).findLast((name) => /\/(index|live)\.m3u8$/.test(name)) ?? '',
    sessions: Number(video.dataset.sessions ?? 0),
    mends: Number(video.dataset.mends ?? 0),
    clock: video.videoWidth > 0 && window.readClock ? window.readClock(video) : null,
  };
}

/** Runs in an empty page that has Shaka Player. What it cannot do is thrown. */
async function play(url) {
  const { shaka } = window;
  shaka.polyfill.installAll();
  const video = document.createElement('video');
  video.muted = true;
  document.body.append(video);
  const player = new shaka.Player();
  const told = (error) => (error.code ? new Error(`Shaka's error ${error.category}/${error.code}: ${JSON.stringify(error.data)}`) : error);
  player.addEventListener('error', ({ detail }) => { throw told(detail); });
  await player.attach(video);
  player.configure({ streaming: { lowLatencyMode: url.endsWith('/live.m3u8') } });
  try {
    await player.load(url);
  } catch (error) {
    throw told(error);
  }
  await video.play();
}

/** Runs in the page: notes how long pictures that have begun to play stand still for want of media. */
function noteStalls() {
  window.stalls = [];
  let since = null;
  const played = new WeakSet();
  document.addEventListener('waiting', () => { since ??= performance.now(); }, true);
  document.addEventListener('playing', ({ target }) => {
    if (since !== null && played.has(target)) window.stalls.push(Math.round(performance.now() - since));
    played.add(target);
    since = null;
  }, true);
}

const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--autoplay-policy=no-user-gesture-required'],
});
let ended = false;
process.stdin.on('end', () => { ended = true; });
try {
  const page = await browser.newPage({ viewport: { width: 960, height: 600 } });
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.addInitScript(`window.noteDrawn = ${noteDrawn};`);
  if (options.script) {
    // Modules export; a script that is put into the page cannot.
    const script = readFileSync(options.script, 'utf8').replace(/^export /gm, '');
    await page.addInitScript(`{ ${script}\nwindow.readClock = ${options.reader}; }`);
  }
  await page.addInitScript(noteStalls);
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  createInterface({ input: process.stdin }).on('line', (line) => {
    const bytes = line === '0' ? -1 : Number(line) / 8;
    void network.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: bytes, uploadThroughput: -1 });
  });
  let watched = page.mainFrame();
  if (options.shaka) {
    // An empty page of the server's own: Chromium lets others reach no loopback.
    const empty = new URL('/empty', options.url).href;
    await page.route(empty, (route) => route.fulfill({ contentType: 'text/html', body: '' }));
    await page.goto(empty);
    await page.addScriptTag({ path: require.resolve('shaka-player/dist/shaka-player.compiled.js') });
    await page.evaluate(play, options.url);
  } else if (options.framed) {
    const outer = new URL('/framed-by-the-test', options.url).href;
    const body = `<iframe src="${options.url}" width="900" height="560" allow="autoplay"></iframe>`;
    await page.route(outer, (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto(outer);
    watched = page.frames()[1];
    await watched.waitForLoadState('domcontentloaded');
  } else {
    await page.goto(options.url, { waitUntil: 'domcontentloaded' });
  }
  while (!ended) {
    const seen = await watched.evaluate(sample);
    process.stdout.write(`${JSON.stringify({ ...seen, errors: errors.slice(0, 10) })}\n`);
    await new Promise((done) => setTimeout(done, 250));
  }
} finally {
  await browser.close();
}
