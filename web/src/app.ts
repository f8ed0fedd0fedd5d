import { CameraStore } from './cameraStore'
import { Router, type Route } from './router'
import { offlineBanner } from './ui/banner'
import { CameraDialogs } from './ui/cameraDialogs'
import { CameraPage } from './ui/cameraPage'
import { h } from './ui/dom'
import { GridPage } from './ui/grid'
import { header } from './ui/header'
import { missingPage } from './ui/missingPage'

interface Page {
  element: HTMLElement
  destroy(): void
}

/** The app with its header; the bare player is not part of it. */
export function startApp(root: HTMLElement): void {
  const store = new CameraStore()
  const dialogs = new CameraDialogs(store)
  const place = h('div', { class: 'place' })
  root.append(
    header(store, () => dialogs.add()),
    offlineBanner(store),
    place,
  )
  let page: Page | null = null
  const router = new Router((route) => {
    page?.destroy()
    document.title = 'Drover'
    page = makePage(route)
    place.replaceChildren(page.element)
  })
  const makePage = (route: Route): Page => {
    switch (route.page) {
      case 'grid':
        return new GridPage(store, {
          onEdit: (camera) => dialogs.edit(camera),
          onRemove: (camera) => dialogs.remove(camera),
        })
      case 'camera':
        return new CameraPage(route.id, store, dialogs, () => router.go('/'))
      default:
        return missingPage()
    }
  }
  router.start()
  store.start()
}
