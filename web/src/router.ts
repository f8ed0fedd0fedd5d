export type Route =
  | { page: 'grid' }
  | { page: 'camera'; id: string }
  /** The bare player. The prefix is that of a share link, "/s/TOKEN", or "". */
  | { page: 'watch'; id: string; prefix: string }
  | { page: 'missing' }

/** Which page a path is. The server lists the same paths in web.go. */
export function parseRoute(path: string): Route {
  if (path === '/') return { page: 'grid' }
  const match = /^((?:\/s\/[^/]+)?)\/(camera|watch)\/([^/]+)$/.exec(path)
  const [, prefix = '', kind, rawId = ''] = match ?? []
  const id = decodePart(rawId)
  if (id === null || id === '') return { page: 'missing' }
  if (kind === 'watch') return { page: 'watch', id, prefix }
  return prefix === '' ? { page: 'camera', id } : { page: 'missing' }
}

function decodePart(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

export function cameraPath(id: string): string {
  return `/camera/${encodeURIComponent(id)}`
}

/** Goes from page to page without loading the app again. */
export class Router {
  constructor(private readonly onRoute: (route: Route) => void) {}

  start(): void {
    window.addEventListener('popstate', () => this.onRoute(parseRoute(location.pathname)))
    document.addEventListener('click', (event) => this.onClick(event))
    this.onRoute(parseRoute(location.pathname))
  }

  go(path: string): void {
    if (path !== location.pathname) history.pushState(null, '', path)
    this.onRoute(parseRoute(path))
    window.scrollTo(0, 0)
  }

  private onClick(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a[data-link]') : null
    if (!(link instanceof HTMLAnchorElement)) return
    event.preventDefault()
    this.go(link.pathname)
  }
}
