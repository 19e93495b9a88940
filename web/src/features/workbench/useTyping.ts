import { useEffect, useRef, useState } from 'react'
import { newId } from '../../canvas'
import { useLatest } from '../../components/hooks'

/** So long one pauses, and what was typed is kept. */
const pause = 400

interface Typing {
  text: string
  /** For the field: what is typed is kept at each pause, and at once when one leaves it, the tab or the page. */
  field: {
    value: string
    onChange: (event: { target: { value: string } }) => void
    onFocus: () => void
    onBlur: () => void
    onCompositionStart: () => void
    onCompositionEnd: () => void
  }
  /** Keeps it now. */
  flush: () => void
}

/** What a person types into a field. `keep` gets the text and the name of the visit: all of a visit is one step of undo. */
export function useTyping(value: string, keep: (text: string, visit: string) => void): Typing {
  const [text, setText] = useState(value)
  const now = useRef({ text: value, kept: value, visit: newId(), composing: false, timer: 0 })
  const onKeep = useLatest(keep)
  const flush = useLatest(() => {
    const { current } = now
    window.clearTimeout(current.timer)
    if (current.text === current.kept) return
    current.kept = current.text
    onKeep(current.text, current.visit)
  })
  // What others, or undo, made of it; what was kept from here is known.
  useEffect(() => {
    if (value === now.current.kept) return
    window.clearTimeout(now.current.timer)
    now.current = { ...now.current, text: value, kept: value, visit: newId() }
    setText(value)
  }, [value])
  useEffect(() => {
    const hidden = () => document.visibilityState === 'hidden' && flush()
    window.addEventListener('pagehide', flush)
    document.addEventListener('visibilitychange', hidden)
    return () => {
      window.removeEventListener('pagehide', flush)
      document.removeEventListener('visibilitychange', hidden)
      flush()
    }
  }, [flush])
  const wait = () => {
    window.clearTimeout(now.current.timer)
    // Half a character of an input method is nothing to keep.
    if (!now.current.composing) now.current.timer = window.setTimeout(flush, pause)
  }
  return {
    text, flush,
    field: {
      value: text,
      onChange: (event) => {
        now.current.text = event.target.value
        setText(event.target.value)
        wait()
      },
      onFocus: () => {
        now.current.visit = newId()
      },
      onBlur: flush,
      onCompositionStart: () => {
        now.current.composing = true
        window.clearTimeout(now.current.timer)
      },
      onCompositionEnd: () => {
        now.current.composing = false
        wait()
      },
    },
  }
}
