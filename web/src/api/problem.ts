/** One field that the server refused, by the name it has in the API. */
export interface FieldProblem {
  field: string
  reason: string
}

/** A request that did not do what was asked, with a text for people. */
export class RequestError extends Error {
  override readonly name = 'RequestError'

  constructor(
    message: string,
    /** HTTP status; 0 when the server was not reached. */
    readonly status: number,
    readonly fields: FieldProblem[] = [],
    /** Its kind, for where the fields say the rest. */
    readonly title = message,
  ) {
    super(message)
  }
}

export const UNREACHABLE = 'The server is not reachable'

/** The text and fields of an error answer: RFC 9457 problem details, if it holds them. */
export function problemError(status: number, body: unknown): RequestError {
  const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const fields = fieldProblems(problem.errors)
  const title = sentence(problem.title)
  const detail = sentence(problem.detail)
  let message = detail !== '' ? detail : title
  // "Conflict: a camera of this id exists already" says less than its detail alone,
  // but a detail of one word needs its title.
  if (detail !== '' && title !== '' && !detail.includes(' ')) message = `${title}: ${detail}`
  if (message === '') message = statusText(status)
  return new RequestError(message, status, fields, title === '' ? message : title)
}

function fieldProblems(value: unknown): FieldProblem[] {
  if (!Array.isArray(value)) return []
  const found: FieldProblem[] = []
  for (const item of value) {
    if (typeof item === 'string' && item !== '') {
      found.push({ field: '', reason: item })
      continue
    }
    if (typeof item !== 'object' || item === null) continue
    const entry = item as Record<string, unknown>
    const reason = sentence(entry.message) || sentence(entry.detail) || sentence(entry.reason)
    const field = sentence(entry.location) || sentence(entry.field) || sentence(entry.pointer)
    if (reason !== '') found.push({ field: field.replace(/^body\.?/, ''), reason })
  }
  return found
}

function sentence(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

function statusText(status: number): string {
  switch (status) {
    case 401:
    case 403:
      return 'You are not allowed to do this'
    case 404:
      return 'There is no such camera'
    case 409:
      return 'This is in conflict with what is there already'
    case 413:
      return 'This is too large for the server'
    case 429:
      return 'Too many requests: try again in a moment'
  }
  if (status >= 500) return `The server failed (status ${status}): its log says why`
  return `The server refused this (status ${status})`
}
