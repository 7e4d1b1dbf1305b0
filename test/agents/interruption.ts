const callbacks = new Set<() => void>();

/**
 * Calls `callback` when SIGINT or SIGTERM ends this process. Returns a function that removes the callback.
 */
export function onInterrupt(callback: () => void): () => void {
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const callback of callbacks) callback();
    process.exit(1);
  });
}
