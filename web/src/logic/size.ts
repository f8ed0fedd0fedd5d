// Sizes and ages as people write them in settings.

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const

/** "8.4 GB", as disks are sold: by thousands. */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes)
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${Number(value.toFixed(value < 10 && unit > 0 ? 1 : 0))} ${UNITS[unit]}`
}

/** The bytes in "500 GB", "1.5TB" or "2 GiB"; 0 for nothing; null if it cannot be read. */
export function parseBytes(text: string): number | null {
  const trimmed = text.trim()
  if (trimmed === '') return 0
  const match = /^(\d+(?:[.,]\d+)?)\s*([kmgtp]?)(i?)b?$/i.exec(trimmed)
  if (!match) return null
  const power = ['', 'k', 'm', 'g', 't', 'p'].indexOf((match[2] ?? '').toLowerCase())
  const bytes = Number((match[1] ?? '').replace(',', '.')) * (match[3] ? 1024 : 1000) ** power
  return Number.isSafeInteger(Math.round(bytes)) ? Math.round(bytes) : null
}

/** The age in "30 days", "2w", "12 h" as the API writes it, "" for no limit; null if it cannot be read. */
export function parseAge(text: string): string | null {
  const trimmed = text.trim().toLowerCase()
  if (trimmed === '') return ''
  const match = /^(\d{1,5})\s*(h|hours?|d|days?|w|weeks?|y|years?)?$/.exec(trimmed)
  if (!match) return null
  const n = Number(match[1])
  const unit = (match[2] ?? 'd').charAt(0)
  if (n === 0) return null
  return unit === 'h' ? `${n}h` : `${n * { d: 1, w: 7, y: 365 }[unit as 'd' | 'w' | 'y']}d`
}
