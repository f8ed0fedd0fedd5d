// Numbers and times as people read them.

export function formatBitrate(bitsPerSecond: number): string {
  if (bitsPerSecond >= 999_500) return `${trim(bitsPerSecond / 1e6, 1)} Mbit/s`
  return `${Math.round(bitsPerSecond / 1000)} kbit/s`
}

export function formatFPS(fps: number): string {
  return `${trim(fps, Math.abs(fps - Math.round(fps)) < 0.02 ? 0 : 2)} fps`
}

export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${trim(seconds, 1)} s`
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

/** "just now", "12 s ago", "3 h ago". A time ahead is a clock that differs: just now. */
export function formatAgo(when: Date, nowMs: number): string {
  const seconds = (nowMs - when.getTime()) / 1000
  return seconds < 2 ? 'just now' : `${formatSeconds(Math.floor(seconds))} ago`
}

export function formatSampleRate(hz: number): string {
  return `${trim(hz / 1000, 1)} kHz`
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`
}

function trim(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)))
}
