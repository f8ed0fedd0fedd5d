import { h } from './dom'

export function missingPage(): { element: HTMLElement; destroy: () => void } {
  const element = h(
    'main',
    { class: 'page', attrs: { id: 'main' } },
    h('h1', { text: 'There is no such page' }),
    h('p', {}, h('a', { text: 'All cameras', attrs: { href: '/', 'data-link': true } })),
  )
  return { element, destroy: () => element.remove() }
}
