import { cameraForm } from './cameraForm'
import { h } from './dom'
import { icon } from './icons'

const SIMULATED = 'rtsp://127.0.0.1:8554/door'

/** What somebody sees who has no camera yet: the form, big, and nothing to look for. */
export function emptyState(onAdded: () => void): HTMLElement {
  const form = cameraForm({ camera: null, taken: new Set(), onDone: onAdded, big: true })
  const fill = h('button', {
    class: 'link-button',
    text: 'fill it in',
    testId: 'use-simulated-camera',
    attrs: { type: 'button' },
    on: { click: () => form.setURL(SIMULATED) },
  })
  return h(
    'section',
    { class: 'empty', testId: 'empty-state', attrs: { 'aria-labelledby': 'empty-title' } },
    h('div', { class: 'empty-mark' }, icon('camera')),
    h('h2', { text: 'Add your first camera', attrs: { id: 'empty-title' } }),
    h('p', { class: 'lead', text: 'Paste its RTSP URL. It is in the camera’s manual or app, often under “ONVIF” or “Streaming”.' }),
    form.element,
    h(
      'p',
      { class: 'hint' },
      'No camera at hand? Run ',
      h('code', { text: 'make camera' }),
      ' in Drover’s folder: it simulates one at ',
      h('code', { text: SIMULATED }),
      ' (',
      fill,
      ').',
    ),
  )
}
