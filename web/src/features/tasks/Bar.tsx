/** A bar of progress; share null: not known how far. */
export function Bar({ share, label }: { share: number | null; label: string }) {
  return (
    <div className="bar" role="progressbar" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={share === null ? undefined : Math.round(share * 100)}>
      <div className={share === null ? 'bar-some' : 'bar-fill'} style={share === null ? undefined : { width: `${share * 100}%` }} />
    </div>
  )
}
