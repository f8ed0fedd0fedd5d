import './style/tokens.css'
import './style/base.css'
import './style/controls.css'
import './style/grid.css'
import './style/form.css'
import './style/player.css'
import './style/timeline.css'
import { startApp } from './app'
import { parseRoute } from './router'
import { applyStoredTheme } from './ui/theme'
import { watchPage } from './ui/watchPage'

applyStoredTheme()
const root = document.getElementById('app')
if (root) {
  const route = parseRoute(location.pathname)
  if (route.page === 'watch') {
    document.title = `${route.id} - Drover`
    document.body.classList.add('bare')
    root.append(watchPage(route.id, route.prefix))
  } else {
    startApp(root)
  }
}
