import { iconButton } from './button'
import { setIcon, type IconName } from './icons'

type Theme = 'auto' | 'light' | 'dark'

const KEY = 'drover.theme'
const NEXT: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' }
const LOOK: Record<Theme, { icon: IconName; label: string }> = {
  auto: { icon: 'auto', label: 'Colours: as the system' },
  light: { icon: 'sun', label: 'Colours: light' },
  dark: { icon: 'moon', label: 'Colours: dark' },
}

function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY)
    return stored === 'light' || stored === 'dark' ? stored : 'auto'
  } catch {
    return 'auto' // storage is forbidden in some frames
  }
}

export function applyStoredTheme(): void {
  apply(storedTheme())
}

function apply(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function themeToggle(): HTMLButtonElement {
  let theme = storedTheme()
  const button = iconButton({
    ...LOOK[theme],
    testId: 'theme-toggle',
    onClick: () => {
      theme = NEXT[theme]
      apply(theme)
      setIcon(button, LOOK[theme].icon, LOOK[theme].label)
      try {
        localStorage.setItem(KEY, theme)
      } catch {
        // Then it lasts for this page.
      }
    },
  })
  return button
}
