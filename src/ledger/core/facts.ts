import type { Price } from "../../domain/model.ts";
import type { Usage } from "../../domain/usage.ts";
import type { Attempt, OutcomeFacts, RequestFacts } from "../ledger.ts";
import { isAmount, isText } from "./validate.ts";

const TEXT_CHARACTERS_MAX = 256;
/** Older ones are dropped when the facts are written, so nobody looks at them here. */
const ATTEMPTS_MAX = 8;

/** Whether every store can keep what a request asked for. */
export function areRequestFacts({ surface, model }: RequestFacts): boolean {
  return isFact(surface) && isFact(model);
}

/** Whether every store can keep what became of a request. Spelled out: it is asked of every settlement. */
export function areOutcomeFacts(facts: OutcomeFacts): boolean {
  const { outcome, source, upstream = "", upstreamModel = "", price, usage, attempts } = facts;
  if (!isFact(outcome) || !isFact(source) || !isFact(upstream) || !isFact(upstreamModel)) return false;
  if (price !== undefined && !isPrice(price)) return false;
  if (usage !== undefined && !isUsage(usage)) return false;
  if (!isDuration(facts.firstOutputMs) || !isDuration(facts.totalMs)) return false;
  const kept = attempts.length > ATTEMPTS_MAX ? attempts.slice(-ATTEMPTS_MAX) : attempts;
  return kept.every(isAttempt);
}

function isFact(text: string): boolean {
  return isText(text, TEXT_CHARACTERS_MAX);
}

function isPrice({ input, output, cachedInput, cacheWrite, cacheWrite1h }: Price): boolean {
  const isReadPaid = isAmount(input) && isAmount(cachedInput);
  return isReadPaid && isAmount(output) && isAmount(cacheWrite) && isAmount(cacheWrite1h);
}

function isUsage(usage: Usage): boolean {
  return (
    isCount(usage.inputTokens) &&
    isCount(usage.cachedInputTokens) &&
    isCount(usage.cacheWriteTokens) &&
    isCount(usage.cacheWrite1hTokens) &&
    isCount(usage.outputTokens)
  );
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 0;
}

/** Whether a time is a number of milliseconds, or not known; a clock that was set back makes it negative. */
function isDuration(ms: number | undefined): boolean {
  return ms === undefined || Number.isSafeInteger(Math.round(ms));
}

function isAttempt({ upstream, status, ms }: Attempt): boolean {
  return isFact(upstream) && Number.isSafeInteger(status) && isDuration(ms);
}
