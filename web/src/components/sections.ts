import { sections, type Field, type Section } from '../api/kinds'

export interface Part {
  section: Section
  fields: Field[]
}

/** A form's fields by its parts, in each those that are required first; what few need apart. */
export function partsOf(fields: readonly Field[]): { parts: Part[]; more: Field[] } {
  const shown = fields.filter((f) => !f.advanced)
  const parts = sections.map((section): Part => {
    const mine = shown.filter((f) => f.section === section)
    return { section, fields: [...mine.filter((f) => f.required), ...mine.filter((f) => !f.required)] }
  })
  return { parts: parts.filter((part) => part.fields.length > 0), more: fields.filter((f) => f.advanced) }
}
