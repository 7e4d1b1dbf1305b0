import type { Capability, Model, Route } from "../domain/model.ts";
import { BYTES_PER_TOKEN } from "../domain/usage.ts";
import type { Attempt } from "../ledger/records.ts";
import type { RequestHead } from "../wire/model-request.ts";
import { leastOutput } from "./quote.ts";
import type { Candidate } from "./request.ts";

/** Why a route was not tried for a request that another one of its model can answer. */
type SkipReason = `cannot_${Capability | "output" | "context_window"}`;

/** Skipped routes on one receipt; with the attempts they are as many as it lists. */
const SKIPPED_MAX = 4;

/** A model and a request that its routes may differ in serving. */
interface Wanted {
  readonly model: Model;
  readonly request: RequestHead;
}

/** The candidates that can do what a request needs, and the lines of those that were left out. */
interface Able {
  readonly candidates: readonly Candidate[];
  /** `undefined` where none was left out. */
  readonly skipped?: readonly Attempt[] | undefined;
}

/**
 * Leaves out candidates that cannot do what a request needs, where another one can. Without any that can, all
 * stay: what is known of them may be wrong, and the provider gives the better reason.
 */
export function chooseAble(candidates: readonly Candidate[], wanted: Wanted): Able {
  if (candidates.length < 2) return { candidates };
  const reasons = candidates.map((candidate) => findLack(candidate, wanted));
  const able = candidates.filter((_, index) => reasons[index] === undefined);
  if (able.length === 0 || able.length === candidates.length) return { candidates };
  const skipped = candidates.flatMap(({ route: { upstream } }, index) => {
    const reason = reasons[index];
    return reason === undefined ? [] : [{ upstream, reason, status: 0, ms: 0 }];
  });
  return { candidates: able, skipped: skipped.slice(0, SKIPPED_MAX) };
}

/** Why a candidate cannot serve a request, as far as it is known; `undefined` where it may. */
function findLack({ route, contextWindow }: Candidate, { model, request }: Wanted): SkipReason | undefined {
  const ability = findLackingAbility(route, request);
  if (ability !== undefined) return `cannot_${ability}`;
  const isLimited = route.outputTokensMax !== undefined && request.outputTokensMax !== 0;
  if (isLimited && outputLimitOf(route, model.outputTokensMax) < leastOutputOf(request)) {
    return "cannot_output";
  }
  const window = contextWindow ?? model.contextWindow;
  return leastTokensOf(route, { model, request }) > window ? "cannot_context_window" : undefined;
}

function findLackingAbility({ can }: Route, { needs }: RequestHead): Capability | undefined {
  if (can === undefined || needs === undefined) return undefined;
  return needs.find((need) => !can.includes(need));
}

/** Output beside a reasoning budget; without a budget, any limit serves. */
function leastOutputOf(request: RequestHead): number {
  return request.thinkingTokens === 0 ? 1 : leastOutput(request);
}

/**
 * The window that an answer takes at the least: a usual count of the prompt, and the output that the client asks for,
 * as far as the route has it.
 */
function leastTokensOf(route: Route, { model, request }: Wanted): number {
  const { textBytes, prompts = 1 } = request.input;
  const prompt = Math.floor(textBytes / BYTES_PER_TOKEN / prompts);
  return prompt + outputLimitOf(route, Math.min(request.outputTokensMax ?? 0, model.outputTokensMax));
}

/** Returns an output limit as a route can have it. */
export function outputLimitOf({ outputTokensMax = Infinity }: Route, limit: number): number {
  return Math.min(limit, outputTokensMax);
}
