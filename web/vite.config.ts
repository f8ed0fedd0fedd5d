import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

const compress = promisify(gzip)

/**
 * Writes a .gz beside each text file of the build, so that the server never
 * compresses anything: it may be a Raspberry Pi.
 */
function precompress(): Plugin {
  let directory = ''
  return {
    name: 'precompress',
    apply: 'build',
    configResolved(config) {
      directory = path.resolve(config.root, config.build.outDir)
    },
    async closeBundle() {
      for (const name of await readdir(directory, { recursive: true })) {
        if (!/\.(html|js|css|svg|webmanifest)$/.test(name)) continue
        const plain = await readFile(path.join(directory, name))
        const small = await compress(plain, { level: 9 })
        if (small.length < plain.length * 0.9) await writeFile(path.join(directory, `${name}.gz`), small)
      }
    },
  }
}

export default defineConfig({
  plugins: [precompress()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    // Everything stays a file of its own: the page's policy allows no data: URLs.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
    reportCompressedSize: false,
  },
  server: {
    // `npm run dev` beside a running Drover.
    proxy: Object.fromEntries(
      ['/api', '/hls', '/archive', '/healthz', '/readyz'].map((prefix) => [prefix, process.env.DROVER_URL ?? 'http://127.0.0.1:8090']),
    ),
  },
})
