import { printPrices, scalePrice } from "../../domain/model.ts";
import { parseMarkup } from "../../domain/money.ts";
import type { Tier } from "../../domain/tiers.ts";
import type { KnownClasses, KnownCost } from "../known-models.ts";
import { readPrice } from "../prices.ts";
import { printScaled } from "./decimals.ts";

/** The tiers whose costs an entry lists by class, with a suffix of their name. */
const LISTED = ["priority", "flex", "ultrafast"] as const satisfies readonly Tier[];
const FACTOR_DECIMALS = 4;

/**
 * Adds the costs of service tiers to a cost. `read` returns the listed costs of a tier, which is left out unless it
 * has both input and output. `factors` are those of Anthropic's tiers over every class.
 */
export function withTierCosts(
  cost: KnownCost,
  factors: unknown,
  read: (tier: Tier) => KnownClasses | undefined,
): KnownCost {
  const listed = LISTED.flatMap((tier) => {
    const classes = read(tier);
    return classes ? [[tier, classes] as const] : [];
  });
  const tiers = Object.fromEntries([...listed, ...scaleTiers(cost, factors)]);
  return Object.keys(tiers).length > 0 ? { ...cost, tiers } : cost;
}

/** A fast answer in one region costs the product of both factors. */
function scaleTiers(cost: KnownCost, factors: unknown): readonly (readonly [Tier, KnownClasses])[] {
  const [fast, us] = [readFactor(factors, "fast"), readFactor(factors, "us")];
  const ofFast = fast === undefined ? undefined : scaleCost(cost, fast);
  return [
    ...(ofFast ? [["fast", ofFast] as const] : []),
    ...(us === undefined ? [] : [["us", scaleCost(cost, us)] as const]),
    ...(ofFast && us !== undefined ? [["fast_us", scaleCost(ofFast, us)] as const] : []),
  ];
}

function readFactor(factors: unknown, name: string): string | undefined {
  const value = typeof factors === "object" && factors !== null ? Reflect.get(factors, name) : undefined;
  return typeof value === "number" && value > 0 ? printScaled(value, 1, FACTOR_DECIMALS) : undefined;
}

function scaleCost(cost: KnownClasses, factor: string): KnownClasses {
  const { input, output, cached_input, cache_write, cache_write_1h } = printPrices(
    scalePrice(readPrice(cost), parseMarkup(factor)),
  );
  return { input, output, cached_input, cache_write, cache_write_1h };
}
