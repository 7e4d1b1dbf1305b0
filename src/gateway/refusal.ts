import { GatewayError } from "../errors.ts";
import { within } from "../time.ts";
import { readRetryAfter } from "../upstream/retry-after.ts";
import type { AttemptContext } from "./attempt.ts";
import type { OpenHold } from "./hold.ts";
import { failed, type Outcome } from "./outcome.ts";
import { readBounded, textOf } from "./read-bounded.ts";
import type { Watch } from "./watch.ts";

/** Enough of a refusal to find the two numbers of a prompt that is too long. */
const REFUSAL_BYTES_MAX = 64 * 1024;
/** And time enough: a refusal is short. */
const REFUSAL_MS_MAX = 5_000;

/** A status other than 2xx: the request's fault on 400, 413 and 422, the route's on all others. */
export async function readRefusal(
  answer: Response,
  { reader, hold, turn }: AttemptContext,
  watch: Watch,
): Promise<Outcome> {
  const { status, headers } = answer;
  const pauseMs = readRetryAfter(headers, Date.now());
  if (pauseMs !== undefined) turn.upstream.health.rest(turn.route.upstreamModel, pauseMs);
  if (status !== 400 && status !== 413 && status !== 422) {
    await answer.body?.cancel();
    return failed("upstream_unavailable");
  }
  const tooLong = reader.wire.readPromptTooLong(await readText(answer, watch));
  const error = tooLong ? promptTooLong(tooLong.tokens, hold) : new GatewayError("rejected_by_upstream");
  // Another upstream may take what is too large for this one.
  return { kind: "failed", error, isFinal: status !== 413 };
}

/** What of its text comes in time, "" for one that is too long: it is refused all the same. */
async function readText(answer: Response, watch: Watch): Promise<string> {
  const body = await within(REFUSAL_MS_MAX, readBounded(answer, REFUSAL_BYTES_MAX), watch.abort);
  return body ? textOf(body) : "";
}

/** The text is ours and fixed; Claude Code reads its two numbers and compacts the conversation. */
export function promptTooLong(tokens: number | undefined, { quote }: OpenHold): GatewayError {
  if (tokens === undefined) return new GatewayError("prompt_too_long");
  const message = `prompt is too long: ${tokens} tokens > ${quote.contextWindow} maximum`;
  return new GatewayError("prompt_too_long", { message });
}
