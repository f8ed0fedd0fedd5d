const SVG = 'http://www.w3.org/2000/svg'

// Strokes on a grid of 24, drawn for this app.
const PATHS = {
  plus: ['M12 5v14', 'M5 12h14'],
  edit: ['M4 20h4L19 9l-4-4L4 16z', 'M13 7l4 4'],
  trash: ['M4 7h16', 'M9 7V4h6v3', 'M6.500 7l1 13h9l1-13', 'M10 11v5', 'M14 11v5'],
  lock: ['M6 11h12v9H6z', 'M8.500 11V8a3.500 3.500 0 0 1 7 0v3'],
  back: ['M19 12H5', 'M11 6l-6 6 6 6'],
  play: ['M7 5l12 7-12 7z'],
  pause: ['M8 5v14', 'M16 5v14'],
  sound: ['M4 10v4h3l5 4V6L7 10z', 'M16 9a4.200 4.200 0 0 1 0 6', 'M18.500 6.500a7.800 7.800 0 0 1 0 11'],
  muted: ['M4 10v4h3l5 4V6L7 10z', 'M16 9.500l5 5', 'M21 9.500l-5 5'],
  fullscreen: ['M4 9V4h5', 'M15 4h5v5', 'M20 15v5h-5', 'M9 20H4v-5'],
  pip: ['M3 5h18v14H3z', 'M12 12h6.500v4.500H12z'],
  share: ['M12 15V3.500', 'M8 7.500l4-4 4 4', 'M8.500 11H6v9.500h12V11h-2.500'],
  copy: ['M9 9h11v11H9z', 'M5 15H4V4h11v1'],
  sun: ['M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z', 'M12 2v2.500', 'M12 19.500V22', 'M2 12h2.500', 'M19.500 12H22', 'M5 5l1.700 1.700', 'M17.300 17.300L19 19', 'M5 19l1.700-1.700', 'M17.300 6.700L19 5'],
  moon: ['M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z'],
  auto: ['M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z', 'M12 3v18', 'M12 7h4.500', 'M12 12h8.800', 'M12 17h4.500'],
  eye: ['M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12z', 'M12 9.200a2.800 2.800 0 1 0 0 5.600 2.800 2.800 0 0 0 0-5.600z'],
  camera: ['M3 8a2 2 0 0 1 2-2h9a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z', 'M16 11l5-3v8l-5-3'],
  close: ['M6 6l12 12', 'M18 6L6 18'],
  restart: ['M20 12a8 8 0 1 1-2.500-5.800', 'M20 3v4.500h-4.500'],
  check: ['M5 12.500l4.500 4.500L19 7.500'],
  forward: ['M5 12h14', 'M13 6l6 6-6 6'],
  calendar: ['M4 6h16v14H4z', 'M4 10.500h16', 'M8 3.500V8', 'M16 3.500V8'],
  bookmark: ['M7 4h10v16l-5-4-5 4z'],
  download: ['M12 4v11', 'M7.500 11l4.500 4.500 4.500-4.500', 'M5 20h14'],
  zoomIn: ['M10.500 4a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13z', 'M15.500 15.500L20 20', 'M10.500 7.500v6', 'M7.500 10.500h6'],
  zoomOut: ['M10.500 4a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13z', 'M15.500 15.500L20 20', 'M7.500 10.500h6'],
  frameBack: ['M16 6l-8 6 8 6z', 'M5 6v12'],
  frameNext: ['M8 6l8 6-8 6z', 'M19 6v12'],
  back10: ['M4.500 12a7.500 7.500 0 1 0 2.300-5.400', 'M7 2.800v4h4', 'M9.700 10v5', 'M12.500 10.800c0-1.100 2.500-1.100 2.500 0v3.400c0 1.100-2.500 1.100-2.500 0z'],
  next10: ['M19.500 12a7.500 7.500 0 1 1-2.300-5.400', 'M17 2.800v4h-4', 'M9.200 10v5', 'M12 10.800c0-1.100 2.500-1.100 2.500 0v3.400c0 1.100-2.500 1.100-2.500 0z'],
  boxes: ['M4 8V4h4', 'M16 4h4v4', 'M20 16v4h-4', 'M8 20H4v-4', 'M9 9h6v6H9z'],
  warning: ['M12 4L2.500 20h19z', 'M12 10v4.500', 'M12 17.200v.3'],
} as const

export type IconName = keyof typeof PATHS

/** A picture beside or in place of a word; its button carries the label. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('class', 'icon')
  svg.setAttribute('aria-hidden', 'true')
  for (const d of PATHS[name]) {
    const path = document.createElementNS(SVG, 'path')
    path.setAttribute('d', d)
    svg.append(path)
  }
  return svg
}

/** Exchanges the icon of a button, and its label with it. */
export function setIcon(button: HTMLButtonElement, name: IconName, label: string): void {
  if (button.dataset.icon === name && button.getAttribute('aria-label') === label) return
  button.dataset.icon = name
  button.setAttribute('aria-label', label)
  button.title = label
  button.querySelector('svg')?.remove()
  button.prepend(icon(name))
}
