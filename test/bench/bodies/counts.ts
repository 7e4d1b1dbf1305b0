/** How often each status came, "48x200 2x429". */
export function countsOf(statuses: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count}x${status}`).join(" ");
}
