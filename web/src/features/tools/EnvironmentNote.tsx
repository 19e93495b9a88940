import { Suspense } from 'react'
import { lazyPart } from '../../app/part'
import type { FormNoteProps } from '../objects/special'
import { InstallTool } from './InstallTool'

const Forecast = lazyPart(() => import('../jobs/Forecast'), 'ForecastNote')

/** Beside the form of a new environment: what it would wait for, and what it would lack. */
export function EnvironmentNote(props: FormNoteProps) {
  return (
    <>
      <Suspense fallback={null}><Forecast {...props} /></Suspense>
      <InstallTool name="jupyter" />
    </>
  )
}
