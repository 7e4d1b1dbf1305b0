/** The mark of the product: a barrier across a road. */
export function Brand({ size = 22 }: { readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="var(--accent)" />
      <path d="M8 8v17M8 13l16-5v4L8 17" fill="none" stroke="var(--on-accent)" strokeWidth="3" />
    </svg>
  );
}
