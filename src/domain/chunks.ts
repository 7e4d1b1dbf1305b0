/** Splits a list into lists of at most `size` items, such as the ids of one query. */
export function* chunksOf<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
