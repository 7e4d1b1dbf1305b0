import { GatewayError } from "../errors.ts";
import { platform, within } from "../platform.ts";
import { readRetryAfter } from "../upstream/cooldown.ts";
import { type RefusedFor, readRefusal, refusesOperator } from "../upstream/refused-call.ts";
import type { Gateway } from "./gateway.ts";
import { estimateInputTokens, totalOutputMaxOf } from "./quote.ts";
import type { RelayContext } from "./relay.ts";
import { readBounded, textOf } from "./relay-bytes.ts";
import { failed, type HeldRequest, type Outcome } from "./request.ts";
import type { RoutePermit } from "./route-queue.ts";
import type { AttemptTimeouts } from "./timeouts.ts";

/** Bytes of an upstream's error that are read for its cause, and for the numbers of a prompt that is too long. */
const ERROR_BYTES_MAX = 64 * 1024;
const ERROR_MS_MAX = 5_000;
/** How long the database is asked whose accounts two are, after an upstream error that names no cause. */
const PERSON_MS_MAX = 1_000;

/** Cooldowns of a key of a pool without `retry-after`: no right to the model, and too many requests. */
const KEY_COOLDOWN_MS: Readonly<Partial<Record<number, number>>> = { 403: 300_000, 429: 5_000 };
/** Statuses that concern the request. */
const OF_REQUEST: readonly number[] = [400, 413, 422];
/** Statuses that may concern the request or the key. */
const AMBIGUOUS: readonly number[] = [402, 403, 429];

type ErrorContext = Pick<RelayContext, "held" | "candidate"> & Pick<RoutePermit, "key">;

/** The outcome of an upstream error, and whether it proves that the key or the upstream should rest. */
export interface UpstreamRefusal {
  readonly outcome: Outcome;
  /** Whether the error concerns the key: whatever is asked with it would fail. */
  readonly isOfKey: boolean;
}

/**
 * Reads an upstream error. The statuses 400, 413 and 422 concern the request, and so does a 403 for flagged
 * content, or a 402 or 429 for its size. A 402 or 403 concerns the key when its text says so, or when accounts of two
 * people have met it; a 400 when it is about the operator's account.
 */
export async function readUpstreamError(
  answer: Response,
  context: ErrorContext,
  { timeouts, isOnePerson }: { readonly timeouts: AttemptTimeouts } & Pick<Gateway, "isOnePerson">,
): Promise<UpstreamRefusal> {
  const { status } = answer;
  if (OF_REQUEST.includes(status)) {
    const text = await readErrorText(answer, timeouts);
    if (status !== 400 || !refusesOperator(text)) {
      return { outcome: rejected(status, text, context), isOfKey: false };
    }
    startCooldown(answer, context);
    return { outcome: failed("upstream_unavailable"), isOfKey: true };
  }
  const refusedFor = await readCause(answer, context, timeouts);
  if (refusedFor === "content") {
    return { outcome: failed("rejected_by_upstream", { isFinal: true }), isOfKey: false };
  }
  // Another upstream may have a larger wallet or rate.
  if (refusedFor === "size") return { outcome: failed("rejected_by_upstream"), isOfKey: false };
  const isOfKey = refusedFor === "key" || (await isShared(status, context, isOnePerson));
  if (isOfKey || !concernsRequest(status)) startCooldown(answer, context);
  return { outcome: failed("upstream_unavailable"), isOfKey };
}

/** Reads what a call was refused for, by status and text. */
async function readCause(
  answer: Response,
  context: ErrorContext,
  timeouts: AttemptTimeouts,
): Promise<RefusedFor> {
  const { status, headers } = answer;
  if (!AMBIGUOUS.includes(status)) {
    await answer.body?.cancel();
    return status === 401 ? "key" : undefined;
  }
  const { quote } = context.held;
  return readRefusal({
    status,
    headers,
    text: await readErrorText(answer, timeouts),
    inputTokens: estimateInputTokens(quote),
    outputTokens: totalOutputMaxOf(quote),
  });
}

/**
 * Whether another account met this ambiguous error at the same key and model within minutes. Accounts of one person
 * are no witnesses of each other; accounts that cannot be told apart in time neither.
 */
async function isShared(
  status: number,
  { held, candidate, key }: ErrorContext,
  isOnePerson: Gateway["isOnePerson"],
): Promise<boolean> {
  if (status !== 402 && status !== 403) return false;
  // A 402 concerns the wallet of the key, a 403 may concern one model.
  const what = status === 402 ? "402" : `403 ${candidate.route.upstreamModel}`;
  const { walletId } = held.hold;
  const witness = key.health.witnessOf(what, walletId);
  return witness !== undefined && !(await areOfOnePerson(isOnePerson, witness, walletId));
}

/** Whether failures that may lie in requests were met by other accounts before, all of this account's person. */
export async function wereMetByOnePerson(
  { isOnePerson }: Pick<Gateway, "isOnePerson">,
  { held, key }: Pick<ErrorContext, "held" | "key">,
): Promise<boolean> {
  const [first, ...others] = key.health.metOnlyBy() ?? [];
  const { walletId } = held.hold;
  if (first === undefined || first === walletId || others.includes(walletId)) return false;
  return areOfOnePerson(isOnePerson, first, walletId);
}

/** Accounts that the database does not compare in time count as those of one person. */
async function areOfOnePerson(
  isOnePerson: Gateway["isOnePerson"],
  one: string,
  other: string,
): Promise<boolean> {
  const asked = isOnePerson(one, other).catch(() => true);
  return within(PERSON_MS_MAX, asked, () => true);
}

/** Whether an error says nothing about other requests. */
function concernsRequest(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

function startCooldown({ status, headers }: Response, { candidate, key }: ErrorContext): void {
  const ofPool = key.label === undefined ? undefined : KEY_COOLDOWN_MS[status];
  const cooldownMs = readRetryAfter(headers, platform.now()) ?? ofPool;
  if (cooldownMs !== undefined) key.health.startCooldown(candidate.route.upstreamModel, cooldownMs);
}

/** Another upstream may accept a body that is too large for this one. */
function rejected(status: number, text: string, { held, candidate }: ErrorContext): Outcome {
  const tooLong = candidate.codec.format.readPromptTooLong(text);
  if (tooLong && status !== 413) return rejectedAsTooLong(tooLong.tokens, { held, candidate });
  const error = tooLong ? promptTooLong(tooLong.tokens, held) : new GatewayError("rejected_by_upstream");
  return { kind: "failed", error, isFinal: status !== 413 };
}

/** The outcome of a prompt that is too long for a candidate. Final unless another one has a wider window. */
export function rejectedAsTooLong(
  tokens: number | undefined,
  { held, candidate }: Pick<RelayContext, "held" | "candidate">,
): Outcome {
  const { candidates, model } = held.plan;
  const window = candidate.contextWindow ?? model.contextWindow;
  const isFinal = candidates.every(({ contextWindow = model.contextWindow }) => contextWindow <= window);
  return { kind: "failed", error: promptTooLong(tokens, held), isFinal };
}

/** Reads for at most 5 s, then aborts and returns "". Returns "" for a text above 64 KiB as well. */
async function readErrorText(answer: Response, timeouts: AttemptTimeouts): Promise<string> {
  const abort = () => timeouts.abort();
  const body = await within(ERROR_MS_MAX, readBounded(answer, ERROR_BYTES_MAX), abort);
  return body ? textOf(body) : "";
}

/** Our own fixed text with the two numbers that Claude Code reads before it compacts a conversation. */
function promptTooLong(tokens: number | undefined, { quote }: HeldRequest): GatewayError {
  if (tokens === undefined) return new GatewayError("prompt_too_long");
  const message = `prompt is too long: ${tokens} tokens > ${quote.contextWindow} maximum`;
  return new GatewayError("prompt_too_long", { message });
}
