import { Problem } from '../api/client'
import { useI18n } from '../i18n'
import { problemText } from './problem'
import { References } from './References'

/** A failure inside a form or dialog. */
export function ProblemNote({ error }: { error: unknown }) {
  const i18n = useI18n()
  const references = error instanceof Problem ? error.references : []
  return (
    <div className="note note-error" role="alert">
      {references.length > 0 ? (
        <>
          <p>{i18n.t('delete.refused')}</p>
          <References references={references} />
        </>
      ) : (
        <p>{problemText(error, i18n)}</p>
      )}
    </div>
  )
}
