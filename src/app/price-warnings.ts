import { findPricesBelowCost } from "../config/price-warnings.ts";
import type { Model } from "../domain/model.ts";
import type { Log } from "../telemetry/log.ts";

/** Routes that one log line names; the others are counted. */
const NAMED_MAX = 20;

/** Warns of routes whose price is below their upstream cost, in one line. */
export function warnOfPrices(models: readonly Model[], log: Pick<Log, "warn">): void {
  const found = findPricesBelowCost(models);
  if (found.length === 0) return;
  log.warn({ routes: found.slice(0, NAMED_MAX), count: found.length }, "prices below cost");
}
