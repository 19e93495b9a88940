import { createBrowserRouter, type RouteObject } from 'react-router'
import { Shell } from './Shell'
import { CrashPage, NotFoundPage } from './pages'
import { firstPart, part } from './part'
import { FirstPaint } from '../components/States'

// Each page is a chunk of its own; the shell and the lists come with the first load.
const routes: RouteObject[] = [
  { path: '/sign-in', lazy: async () => ({ Component: (await firstPart(() => import('../features/sign-in/SignIn'))).SignIn }), HydrateFallback: () => null, ErrorBoundary: CrashPage },
  {
    path: '/docs',
    lazy: async () => ({ Component: (await part(() => import('../features/docs/Docs'))).Docs }),
    ErrorBoundary: CrashPage,
    HydrateFallback: FirstPaint,
    children: [
      { index: true, lazy: async () => ({ Component: (await part(() => import('../features/docs/DocsHome'))).DocsHome }) },
      { path: 'reference/:noun?', lazy: async () => ({ Component: (await part(() => import('../features/docs/ReferencePage'))).ReferencePage }) },
      { path: ':manual', lazy: async () => ({ Component: (await part(() => import('../features/docs/ManualPage'))).ManualPage }) },
      { path: '*', Component: NotFoundPage },
    ],
  },
  {
    path: '/',
    Component: Shell,
    ErrorBoundary: CrashPage,
    HydrateFallback: FirstPaint,
    children: [
      { index: true, lazy: async () => ({ Component: (await firstPart(() => import('./Home'))).Home }) },
      {
        ErrorBoundary: CrashPage,
        children: [
          { path: 'p/:project', lazy: async () => ({ Component: (await firstPart(() => import('../features/projects/Overview'))).Overview }) },
          { path: 'p/:project/my-tasks', lazy: async () => ({ Component: (await part(() => import('../features/labelling/MyTasks'))).MyTasks }) },
          { path: 'p/:project/publish-reviews/:dataset/:version', lazy: async () => ({ Component: (await part(() => import('../features/labelling/ReviewPage'))).ReviewPage }) },
          { path: 'p/:project/lineage/:kind/:id', lazy: async () => ({ Component: (await part(() => import('../features/lineage/LineagePage'))).LineagePage }) },
          { path: 'p/:project/runs', lazy: async () => ({ Component: (await part(() => import('../features/runs/RunsPage'))).RunsPage }) },
          { path: 'p/:project/runs/compare', lazy: async () => ({ Component: (await part(() => import('../features/runs/ComparePage'))).ComparePage }) },
          { path: 'p/:project/:plural', lazy: async () => ({ Component: (await firstPart(() => import('../features/objects/ListPage'))).ListPage }) },
          { path: 'p/:project/:plural/:id', lazy: async () => ({ Component: (await part(() => import('../features/objects/DetailPage'))).DetailPage }) },
          { path: 'p/:project/datasets/:id/v/:number/label', lazy: async () => ({ Component: (await part(() => import('../features/workbench/VersionBench'))).VersionBench }) },
          { path: 'p/:project/label-tasks/:id/:stage', lazy: async () => ({ Component: (await part(() => import('../features/workbench/TaskBench'))).TaskBench }) },
          { path: 'p/:project/:plural/:id/v/:number', lazy: async () => ({ Component: (await part(() => import('../features/datasets/VersionPage'))).VersionPage }) },
          { path: 'p/:project/:plural/:id/:child/:childId', lazy: async () => ({ Component: (await part(() => import('../features/trainings/InstancePage'))).InstancePage }) },
          { path: 'home', lazy: async () => ({ Component: (await part(() => import('../features/overview/PlatformHome'))).PlatformHome }) },
          { path: 'demo', lazy: async () => ({ Component: (await part(() => import('../features/demo/DemoPage'))).DemoPage }) },
          { path: 'catalogue', lazy: async () => ({ Component: (await part(() => import('../features/services/Catalogue'))).Catalogue }) },
          { path: 'admin/controllers', lazy: async () => ({ Component: (await part(() => import('../features/platform/Controllers'))).Controllers }) },
          { path: 'admin/log', lazy: async () => ({ Component: (await part(() => import('../features/platform/PlatformLog'))).PlatformLog }) },
          { path: 'admin/resources', lazy: async () => ({ Component: (await part(() => import('../features/resources/Resources'))).Resources }) },
          { path: 'admin/:plural', lazy: async () => ({ Component: (await firstPart(() => import('../features/objects/ListPage'))).ListPage }) },
          { path: 'admin/:plural/:id', lazy: async () => ({ Component: (await part(() => import('../features/objects/DetailPage'))).DetailPage }) },
          { path: 'profile/:plural?', lazy: async () => ({ Component: (await part(() => import('../features/profile/Profile'))).Profile }) },
          { path: '*', Component: NotFoundPage },
        ],
      },
    ],
  },
]

export const router = createBrowserRouter(routes)

/** Whether another page is on its way: its chunk is being fetched while this one is still shown. */
export function leaving(): boolean {
  const next = router.state.navigation.location
  return next !== undefined && next.pathname !== router.state.location.pathname
}
