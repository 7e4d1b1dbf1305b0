import type { Config } from "../config/config.ts";
import { findKnownWarnings } from "../config/known-warnings.ts";
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
