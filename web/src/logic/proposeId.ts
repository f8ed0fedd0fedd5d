import { splitLogin } from './rtspURL'

const ID_PATTERN = /^[a-z0-9][a-z0-9_-]{0,62}$/

export function validId(id: string): boolean {
  return ID_PATTERN.test(id)
}

// Path words, without digits, that every camera of a maker has: they name no camera.
const GENERIC: ReadonlySet<string> = new Set(
  (
    'h hevc live stream streams streaming channel channels ch cam camera main sub video media av avstream preview ' +
    'onvif profile unicast user mpeg axis realmonitor videomain videosub rtsp udp tcp ipc track sid ucast first second'
  ).split(' '),
)

function isGeneric(word: string): boolean {
  return word.split(/[-_0-9]+/).every((piece) => piece === '' || GENERIC.has(piece))
}

/**
 * Proposes an id for a camera from its URL: the last word of the path or the
 * host that names something, never one that is taken.
 */
export function proposeId(pasted: string, taken: ReadonlySet<string>): string {
  const { url } = splitLogin(pasted)
  const match = /^rtsps?:\/\/([^/?#]*)([^?#]*)(.*)$/is.exec(url)
  if (!match) return ''
  const [, authority = '', path = '', rest = ''] = match
  const host = hostOf(authority)
  if (host === '') return ''
  const base = fromPath(path) ?? fromHost(host)
  return free(base + channelOf(path, rest), taken)
}

function hostOf(authority: string): string {
  if (authority.startsWith('[')) return authority.slice(1).split(']')[0] ?? ''
  return authority.split(':')[0] ?? ''
}

function fromPath(path: string): string | null {
  for (const segment of path.split('/').reverse()) {
    const word = toId(segment.replace(/\.[a-z0-9]{2,4}$/i, ''))
    if (word.length >= 3 && !isGeneric(word)) return word
  }
  return null
}

function fromHost(host: string): string {
  const lastOfIPv4 = /^\d+\.\d+\.\d+\.(\d+)$/.exec(host)
  if (lastOfIPv4) return `camera-${lastOfIPv4[1]}`
  const word = host.includes(':') ? '' : toId(host.split('.')[0] ?? '')
  return word === '' || word === 'localhost' ? 'camera' : word
}

/** A recorder's second and later channels get their number: "-ch2". */
function channelOf(path: string, rest: string): string {
  const channel = /[?&]channel=(\d+)/i.exec(rest)?.[1] ?? /\/channels\/(\d+)0\d$/i.exec(path)?.[1]
  return channel !== undefined && Number(channel) > 1 ? `-ch${Number(channel)}` : ''
}

function toId(text: string): string {
  let plain = text
  try {
    plain = decodeURIComponent(text)
  } catch {
    // not percent-encoded
  }
  return plain
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '')
    .slice(0, 48)
}

function free(id: string, taken: ReadonlySet<string>): string {
  if (!taken.has(id)) return id
  let n = 2
  while (taken.has(`${id}-${n}`)) n++
  return `${id}-${n}`
}
