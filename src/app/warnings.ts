import type { Config } from "../config/config.ts";
import { findKnownWarnings, findPricesBelowCost, findUnpricedSearches } from "../config/warnings.ts";
import type { Model } from "../domain/model.ts";
import type { Log } from "../telemetry/log.ts";

/** Warnings that one log line has; the others are counted. */
const LISTED_MAX = 20;

/** Warns of known models with old prices, past their end, with costs that no price holds, or at an upstream of another format. */
export function warnOfKnownModels({ known = [] }: Pick<Config, "known">, log: Pick<Log, "warn">): void {
  const found = findKnownWarnings(known, Date.now());
  if (found.length === 0) return;
  const models = found
    .slice(0, LISTED_MAX)
    .map(({ place, known: id, reason, text }) => ({ place, known: id, reason, text }));
  log.warn({ models, count: found.length }, "known models need attention");
}

/** Warns of routes whose price is below their upstream cost, and of searches without a price, in a line each. */
export function warnOfPrices(models: readonly Model[], log: Pick<Log, "warn">): void {
  const warn = (found: readonly object[], event: string) => {
    if (found.length > 0) log.warn({ routes: found.slice(0, LISTED_MAX), count: found.length }, event);
  };
  warn(findPricesBelowCost(models), "prices below cost");
  warn(findUnpricedSearches(models), "searches without a price");
}
