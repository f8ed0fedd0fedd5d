/** A camera's URL taken apart, with the login out of it. */
export interface CameraURL {
  url: string
  username: string
  password: string
}

/**
 * Takes the login out of what was pasted. Browsers' URL parser refuses passwords
 * with raw special characters, so the last @ before the path ends the login.
 */
export function splitLogin(pasted: string): CameraURL {
  const text = pasted.trim()
  const match = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/is.exec(text)
  if (!match) return { url: text, username: '', password: '' }
  const [, scheme = '', authority = '', rest = ''] = match
  const at = authority.lastIndexOf('@')
  if (at < 0) return { url: text, username: '', password: '' }
  const login = authority.slice(0, at)
  const colon = login.indexOf(':')
  return {
    url: scheme + authority.slice(at + 1) + rest,
    username: decode(colon < 0 ? login : login.slice(0, colon)),
    password: colon < 0 ? '' : decode(login.slice(colon + 1)),
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a raw % in it: it was not encoded
  }
}

/** Why the text cannot be a camera's URL, or null. The server checks again. */
export function urlProblem(text: string): string | null {
  const url = text.trim()
  if (url === '') return 'Paste the camera’s RTSP URL, for example rtsp://192.168.1.20/stream1'
  if (!/^rtsps?:\/\//i.test(url)) return 'The URL must begin with rtsp:// or rtsps://'
  if (/^rtsps?:\/\/([/?#]|$)/i.test(url)) return 'The URL has no host'
  if (url.includes('#')) return 'The URL has a # in it: write it as %23'
  if (/\s/.test(url)) return 'The URL has a space in it: write it as %20'
  return null
}
