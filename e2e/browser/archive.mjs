// Plays a playlist of recordings with hls.js in headless Chromium, as the web app has
// it, and says as one JSON object what came of it:
//
//   node archive.mjs --url URL [--seeks 10]            a range: over each discontinuity,
//                                                      then to so many places at random
//   node archive.mjs --url URL --shift [--back 60]     the time shift: live, back, live
//
// Times are in milliseconds. A seek lasts until a picture of the new place is shown.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';

// The web app's package.json pins the versions.
const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const { values: options } = parseArgs({
  options: { url: { type: 'string' }, seeks: { type: 'string', default: '10' }, shift: { type: 'boolean' }, back: { type: 'string', default: '60' } },
});

const executablePath = (process.env.PATH ?? '').split(path.delimiter)
  .map((folder) => path.join(folder, 'chromium'))
  .find((file) => existsSync(file));
if (!executablePath) {
  throw new Error('chromium is not in PATH: apt-get install chromium');
}

/** Runs in an empty page that has hls.js. */
async function watch({ url, seeks, shift, back }) {
  const { Hls } = window;
  const video = document.createElement('video');
  video.muted = true;
  document.body.append(video);
  const hls = new Hls({ startPosition: shift ? -1 : 0 });
  const said = { errors: [], fatal: '', playlists: [], seeks: [], joins: [] };
  hls.on(Hls.Events.ERROR, (_, data) => {
    said.errors.push(`${data.type} ${data.details}`);
    if (data.fatal) said.fatal = data.details;
  });
  hls.on(Hls.Events.LEVEL_LOADED, (_, { stats, details, networkDetails }) => {
    said.playlists.push({ bytes: stats.total, skipped: details.skippedSegments, entries: details.fragments.length, url: networkDetails?.responseURL ?? '' });
  });

  /** Waits for a picture from a place on, and returns the place. */
  const picture = (from, to, patience = 20000) => new Promise((done, fail) => {
    const limit = setTimeout(() => fail(new Error(`no picture from ${from} to ${to} came in time; at ${video.currentTime}, ${said.errors.join(', ')}`)), patience);
    const look = (_, { mediaTime }) => {
      if (mediaTime >= from && mediaTime <= to) {
        clearTimeout(limit);
        done(mediaTime);
      } else {
        video.requestVideoFrameCallback(look);
      }
    };
    video.requestVideoFrameCallback(look);
  });
  /** Goes to a place and returns how long it took to show. */
  const seek = async (to) => {
    const shown = picture(to - 0.3, to + 4);
    const begun = performance.now();
    video.currentTime = to;
    await shown;
    return performance.now() - begun;
  };

  const begun = performance.now();
  const shown = picture(0, Infinity);
  hls.loadSource(url);
  hls.attachMedia(video);
  await video.play();
  await shown;
  said.first = performance.now() - begun;
  const details = () => hls.levels[hls.currentLevel < 0 ? 0 : hls.currentLevel].details;
  if (shift) {
    await picture(video.currentTime + 1, Infinity);
    said.liveAt = hls.playingDate?.toISOString();
    const live = video.currentTime;
    said.seeks.push(await seek(live - back));
    said.backAt = hls.playingDate?.toISOString();
    await picture(video.currentTime + 2, Infinity);
    said.seeks.push(await seek(hls.liveSyncPosition));
    await picture(video.currentTime + 6, Infinity, 30000);
    said.againAt = hls.playingDate?.toISOString();
  } else {
    const { fragments, edge } = details();
    said.lasts = edge;
    // Over each place where time does not go on.
    for (let i = 1; i < fragments.length; i++) {
      if (fragments[i].cc === fragments[i - 1].cc) continue;
      await seek(fragments[i].start - 1.5);
      await picture(fragments[i].start + 1, fragments[i].start + 60);
      said.joins.push({ at: fragments[i].start, date: hls.playingDate?.toISOString() });
    }
    for (let i = 0; i < seeks; i++) {
      said.seeks.push(await seek(Math.random() * (edge - 4)));
    }
    // The end is reached, and is one.
    video.currentTime = edge - 1;
    await new Promise((done, fail) => {
      video.addEventListener('ended', done, { once: true });
      setTimeout(() => fail(new Error(`it does not end; at ${video.currentTime} of ${edge}`)), 20000);
    });
  }
  const quality = video.getVideoPlaybackQuality();
  said.frames = quality.totalVideoFrames;
  hls.destroy();
  return said;
}

const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--autoplay-policy=no-user-gesture-required'],
});
try {
  const page = await browser.newPage({ viewport: { width: 960, height: 600 } });
  // An empty page of the server's own: Chromium lets others reach no loopback.
  const empty = new URL('/empty', options.url).href;
  await page.route(empty, (route) => route.fulfill({ contentType: 'text/html', body: '' }));
  await page.goto(empty);
  await page.addScriptTag({ path: require.resolve('hls.js/dist/hls.js') });
  const said = await page.evaluate(watch, { url: options.url, seeks: Number(options.seeks), shift: Boolean(options.shift), back: Number(options.back) });
  process.stdout.write(`${JSON.stringify(said)}\n`);
} finally {
  await browser.close();
}
