// Real clips for the mock server, made once by ffmpeg and kept with the packages.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'

const run = promisify(execFile)
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/drover-mock', import.meta.url))

/** Segments of one second in a clip; the mock plays them round and round. */
export const CLIP_SEGMENTS = 30

/** The clips by name. What a clip's multivariant playlist says is here, too. */
export const CLIPS = {
  door: { source: 'testsrc2=size=640x360:rate=25', size: '640x360', level: '3.0', codecs: 'avc1.4D401E,mp4a.40.2' },
  yard: { source: 'gradients=size=640x360:rate=25:speed=0.02:seed=7:nb_colors=4', size: '640x360', level: '3.0', codecs: 'avc1.4D401E,mp4a.40.2' },
  small: { source: 'testsrc2=size=320x180:rate=12.5', size: '320x180', level: '1.3', codecs: 'avc1.4D400D,mp4a.40.2' },
}

/** Makes what is not there yet and returns the folder of each clip. */
export async function makeClips() {
  const folders = {}
  for (const [name, clip] of Object.entries(CLIPS)) {
    folders[name] = path.join(CACHE, name)
    if (!existsSync(folders[name])) await makeClip(folders[name], clip)
  }
  return folders
}

async function makeClip(folder, { source, level }) {
  // Made beside and renamed: a run that was broken off leaves no half clip.
  const making = `${folder}.${process.pid}`
  await mkdir(making, { recursive: true })
  await run('ffmpeg', [
    '-v', 'error', '-f', 'lavfi', '-i', source, '-f', 'lavfi', '-i', 'sine=frequency=330:sample_rate=48000',
    '-t', String(CLIP_SEGMENTS), '-pix_fmt', 'yuv420p',
    '-c:v', 'libx264', '-preset', 'superfast', '-profile:v', 'main', '-level', level, '-crf', '30',
    '-force_key_frames', 'expr:gte(t,n_forced)', '-c:a', 'aac', '-b:a', '48k',
    '-f', 'hls', '-hls_time', '1', '-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4',
    '-hls_fmp4_init_filename', 'init.mp4', '-hls_segment_filename', path.join(making, '%d.m4s'),
    path.join(making, 'index.m3u8'),
  ], { timeout: 60_000 })
  await rename(making, folder).catch(() => rm(making, { recursive: true }))
}
