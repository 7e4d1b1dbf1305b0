const ends = new Set<() => void>();

/** Has `end` called when this process is told to end before its time; what it returns forgets that again. */
export function whenInterrupted(end: () => void): () => void {
  ends.add(end);
  return () => void ends.delete(end);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const end of ends) end();
    process.exit(1);
  });
}
