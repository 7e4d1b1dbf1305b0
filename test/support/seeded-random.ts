/** Returns the next pseudo-random number from 0 to 1 (exclusive). The sequence depends only on the seeds. */
export type RandomSource = () => number;

/** Creates a sequence that depends only on these seeds, so that two processes draw the same numbers. */
export function createDraw(...seeds: readonly (string | number)[]): RandomSource {
  let state = Bun.hash.xxHash32(seeds.join(" "));
  return () => {
    state = (state + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    const again = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((again ^ (again >>> 16)) >>> 0) / 2 ** 32;
  };
}

/** Draws an integer from `least` to `most`, both inclusive. */
export function drawInteger(draw: RandomSource, least: number, most: number): number {
  return least + Math.floor(draw() * (most - least + 1));
}

/** Draws one item, each with equal probability. Throws for an empty list. */
export function drawOne<Item>(draw: RandomSource, items: readonly Item[]): Item {
  const item = items[Math.floor(draw() * items.length)];
  if (item === undefined) throw new Error("Nothing can be drawn from an empty list");
  return item;
}

/** Draws one item with a probability proportional to its weight. */
export function drawWeighted<Item extends { readonly weight: number }>(
  draw: RandomSource,
  items: readonly Item[],
): Item {
  let lot = draw() * items.reduce((sum, { weight }) => sum + weight, 0);
  for (const item of items) {
    lot -= item.weight;
    if (lot < 0) return item;
  }
  return drawOne(draw, items);
}
