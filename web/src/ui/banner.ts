import type { CameraStore } from '../cameraStore'
import { h, setText, show } from './dom'

/** Says that the server does not answer, for as long as it does not. */
export function offlineBanner(store: CameraStore): HTMLElement {
  const text = h('span')
  const banner = h('div', { class: 'banner', testId: 'offline-banner', attrs: { role: 'alert' } }, h('span', { class: 'spinner' }), text)
  store.subscribe(({ problem }) => {
    setText(text, problem === '' ? '' : `${problem}, retrying…`)
    show(banner, problem !== '')
  })
  return banner
}
