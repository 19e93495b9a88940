import { createContext, useContext } from 'react'
import type { Field } from '../api/kinds'
import type { Values } from './merge'
import { isRef } from './names'

/** The form that an editor stands in, for those that look at other fields too. */
export interface FormAround {
  fields: readonly Field[]
  values: Values
}

export const FormContext = createContext<FormAround>({ fields: [], values: {} })

export function useFormAround(): FormAround {
  return useContext(FormContext)
}

function pathOf(mount: string, value: unknown): string {
  const name = isRef(value) ? (value.of?.name ?? value.name) : ''
  return mount.replace('NAME', name)
}

/** The paths at which the container has what the form's fields refer to. */
export function mountsOf({ fields, values }: FormAround): string[] {
  const paths = fields.flatMap(({ name, mount }) => {
    const value = values[name]
    return mount === null ? [] : (Array.isArray(value) ? value : [value]).filter(isRef).map((one) => pathOf(mount, one))
  })
  return [...new Set(paths)]
}

/** The path of one reference in the container, or null. */
export function mountOf(field: Field | undefined, value: unknown): string | null {
  return field?.mount && isRef(value) ? pathOf(field.mount, value) : null
}
