import type { CameraStore } from '../cameraStore'
import { plural } from '../logic/format'
import { textButton } from './button'
import { h, setText, show } from './dom'
import { icon } from './icons'
import { themeToggle } from './theme'

export function header(store: CameraStore, onAdd: () => void): HTMLElement {
  const summary = h('span', { class: 'summary', testId: 'summary' })
  store.subscribe(({ list }) => {
    const live = list?.filter((camera) => camera.status.state === 'live').length ?? 0
    setText(summary, list && list.length > 0 ? `${plural(list.length, 'camera')}, ${live} live` : '')
  })
  const add = textButton({ label: 'Add camera', icon: 'plus', kind: 'primary', testId: 'add-camera', onClick: onAdd })
  add.setAttribute('aria-label', 'Add camera')
  // Without any camera the page itself is the form.
  store.subscribe(({ list }) => show(add, list === null || list.length > 0))
  return h(
    'header',
    { class: 'header', testId: 'header' },
    h('a', { class: 'skip-link', text: 'Skip to content', attrs: { href: '#main' } }),
    h('a', { class: 'brand', attrs: { href: '/', 'data-link': true } }, h('span', { class: 'brand-mark' }, icon('camera')), h('span', { text: 'Drover' })),
    summary,
    h('span', { class: 'spacer' }),
    themeToggle(),
    add,
  )
}
