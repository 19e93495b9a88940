// What a label asks of each thing that bears it. Pure: the editor and its tests share it; the rules are the server's.
import type { Schema } from '../../api/client'
export type Attribute = Schema<'LabelAttribute'>
export type AttributeType = Attribute['type']
export const attributeTypes: readonly AttributeType[] = ['choice', 'text', 'number', 'flag']

export const mostAttributes = 20

export type AttributeMember = 'name' | 'title' | 'choices' | 'default'
export type AttributeRule = 'required' | 'long' | 'duplicate' | 'choices' | 'choice' | 'text'
export interface AttributeFault {
  at: number
  member: AttributeMember
  rule: AttributeRule
}

const length = (text: string) => [...text].length
const chosen = (a: Attribute) => (a.choices ?? []).map((c) => c.trim()).filter((c) => c !== '')
const says = (value: unknown) => value !== undefined && value !== null && value !== ''

export function attributeFaults(list: readonly Attribute[]): AttributeFault[] {
  const names = new Set<string>()
  return list.flatMap((a, at) => {
    const found: AttributeFault[] = []
    const fault = (member: AttributeMember, rule: AttributeRule) => found.push({ at, member, rule })
    const name = a.name.trim()
    if (name === '') fault('name', 'required')
    else if (length(name) > 100) fault('name', 'long')
    else if (names.has(name)) fault('name', 'duplicate')
    names.add(name)
    if ([a.title?.en, a.title?.zh].some((t) => t !== undefined && length(t.trim()) > 100)) fault('title', 'long')
    if (a.type === 'choice') {
      const choices = chosen(a)
      if (choices.length === 0 || choices.length > 100 || choices.some((c) => length(c) > 200) || new Set(choices).size < choices.length) fault('choices', 'choices')
      else if (says(a.default) && !choices.includes(String(a.default))) fault('default', 'choice')
    }
    if (a.type === 'text' && typeof a.default === 'string' && length(a.default) > 1000) fault('default', 'text')
    return found
  })
}

/** Of another type: what belongs to the old one only goes. */
export function retyped(a: Attribute, type: AttributeType): Attribute {
  const { choices: _choices, default: _default, ...rest } = a
  void _choices
  void _default
  return { ...rest, type, ...(type === 'choice' && { choices: a.choices ?? [] }) }
}

/** As the API wants them: trimmed, without what says nothing. */
export function cleanAttributes(list: readonly Attribute[]): Attribute[] {
  return list.map((a) => {
    const titles = Object.entries(a.title ?? {}).flatMap(([language, text]) => (text.trim() !== '' ? [[language, text.trim()]] : []))
    return {
      name: a.name.trim(), type: a.type, ...(titles.length > 0 && { title: Object.fromEntries(titles) as Attribute['title'] }), ...(a.type === 'choice' && { choices: chosen(a) }),
      ...(a.required === true && { required: true }), ...(says(a.default) && { default: a.default }),
    }
  })
}
