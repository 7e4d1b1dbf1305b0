import type { Caller } from "../accounts/key.ts";
import { GatewayError } from "../errors.ts";
import type { Admission, AdmissionRequest, LimitState, Limits, WindowState } from "../limiter/limiter.ts";
import type { Call, Gateway, Reply } from "./gateway.ts";
import { fitMinute, type Quote, tokensOf } from "./quote.ts";

type LimitedCaller = Omit<AdmissionRequest, "tokens">;

/** A request that was let in, with a quote that a minute can hold. */
export interface Admitted {
  readonly admission: Admission;
  readonly limited: LimitedCaller;
  readonly quote: Quote;
}

/**
 * Takes requests, tokens and a concurrency slot together or not at all, and says in headers what is
 * left. Throws `too_many_tokens`, `rate_limited` or `too_concurrent`.
 */
export async function admit(
  gateway: Gateway,
  { caller, call, quote: asked }: { caller: Caller; call: Call; quote: Quote },
  reply: Reply,
): Promise<Admitted> {
  const limited = limitedCaller(gateway, caller);
  const { keyLimits, accountLimits } = limited;
  const perMinute = Math.min(
    keyLimits.tokensPerMinute ?? Infinity,
    accountLimits.tokensPerMinute ?? Infinity,
  );
  const quote = fitMinute(asked, perMinute);
  const admission = await take(gateway, { ...limited, tokens: tokensOf(quote) }, { call, reply });
  return { admission, limited, quote };
}

/** The same for a request that takes no tokens. Throws `rate_limited` or `too_concurrent`. */
export function admitWithoutTokens(
  gateway: Gateway,
  { caller, call }: { caller: Caller; call: Call },
  reply: Reply,
): Promise<Admission> {
  return take(gateway, { ...limitedCaller(gateway, caller), tokens: 0 }, { call, reply });
}

/** Undoes an admission whole, and says in headers what is left then. */
export async function giveBack(
  { limiter }: Gateway,
  call: Call,
  { admission, limited }: Admitted,
  reply: Reply,
): Promise<void> {
  await admission.cancel();
  // Without the limiter the refusal still stands: only its headers are those of a moment ago.
  const state = await limiter.usage(limited).catch(() => undefined);
  if (state) reply.setHeaders(limitHeaders(state, call.wire.surface));
}

/** A key's own limits, and the configured ones where it has none. */
export function limitsOf({ key }: Caller, defaults: Limits): Limits {
  return { ...defaults, ...key.limits };
}

function limitedCaller({ keyLimits, accountLimits }: Gateway, caller: Caller): LimitedCaller {
  const { accountId, id: keyId } = caller.key;
  return { accountId, keyId, keyLimits: limitsOf(caller, keyLimits), accountLimits };
}

async function take(
  { limiter }: Gateway,
  request: AdmissionRequest,
  { call, reply }: { call: Call; reply: Reply },
): Promise<Admission> {
  const decision = await limiter.admit(request);
  reply.setHeaders(limitHeaders(decision.state, call.wire.surface));
  if (decision.admitted) return decision;
  const cause = decision.bound === "rate" ? "rate_limited" : "too_concurrent";
  throw new GatewayError(cause, { retryAfterS: decision.retryAfterS });
}

function limitHeaders(state: LimitState, surface: string): Record<string, string> {
  const headers: Record<string, string> = {};
  const say = surface === "messages" ? sayAnthropic : sayOpenAi;
  if (state.requests) say(headers, "requests", state.requests);
  if (state.tokens) say(headers, "tokens", state.tokens);
  return headers;
}

function sayOpenAi(headers: Record<string, string>, what: string, state: WindowState): void {
  headers[`x-ratelimit-limit-${what}`] = String(state.limit);
  headers[`x-ratelimit-remaining-${what}`] = String(state.remaining);
  headers[`x-ratelimit-reset-${what}`] = `${Math.ceil(state.resetMs / 1000)}s`;
}

function sayAnthropic(headers: Record<string, string>, what: string, state: WindowState): void {
  headers[`anthropic-ratelimit-${what}-limit`] = String(state.limit);
  headers[`anthropic-ratelimit-${what}-remaining`] = String(state.remaining);
  headers[`anthropic-ratelimit-${what}-reset`] = new Date(Date.now() + state.resetMs).toISOString();
}
