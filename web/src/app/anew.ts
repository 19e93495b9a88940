// Loading the page anew, when its parts are of a version that is gone.
import { serverBack } from '../api/reach'
import { keepDrafts } from '../components/drafts'
import { router } from './router'

/** Never while the server is away; at the page that was being opened. What was typed into forms is kept for them. */
export async function loadAnew(): Promise<void> {
  await serverBack()
  keepDrafts()
  window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true, once: true })
  const { location, state } = router.state.navigation
  if (state === 'loading') window.location.assign(location.pathname + location.search + location.hash)
  else window.location.reload()
}
