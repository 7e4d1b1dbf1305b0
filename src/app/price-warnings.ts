import { findPricesBelowCost, findUnpricedSearches } from "../config/price-warnings.ts";
import type { Model } from "../domain/model.ts";
import type { Log } from "../telemetry/log.ts";

/** Routes that one log line names; the others are counted. */
const NAMED_MAX = 20;

/** Warns of routes whose price is below their upstream cost, and of searches without a price, in a line each. */
export function warnOfPrices(models: readonly Model[], log: Pick<Log, "warn">): void {
  const warn = (found: readonly object[], event: string) => {
    if (found.length > 0) log.warn({ routes: found.slice(0, NAMED_MAX), count: found.length }, event);
  };
  warn(findPricesBelowCost(models), "prices below cost");
  warn(findUnpricedSearches(models), "searches without a price");
}
