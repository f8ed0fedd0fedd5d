import './style/tokens.css'
import './style/base.css'
import './style/controls.css'
import './style/grid.css'
import './style/form.css'
import './style/player.css'
import { startApp } from './app'
import { parseRoute } from './router'
import { PlayerView } from './ui/player'
import { applyStoredTheme } from './ui/theme'

applyStoredTheme()
const root = document.getElementById('app')
if (root) {
  const route = parseRoute(location.pathname)
  if (route.page === 'watch') {
    document.title = `${route.id} - Drover`
    document.body.classList.add('bare')
    root.append(new PlayerView(route.id, route.prefix).element)
  } else {
    startApp(root)
  }
}
