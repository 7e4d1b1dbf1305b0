import { type ApiKey, type Caller, rootIdOf } from "../accounts/keys/key.ts";
import { type Body, type Soon, withModel } from "../bodies/body.ts";
import { GatewayError, type LimitFacts } from "../errors.ts";
import type { Admission, AdmissionRequest, LimitDecline, Limits } from "../limiter/limiter.ts";
import { platform } from "../platform.ts";
import type { Recording } from "../recordings/recording.ts";
import type { Gateway } from "./gateway.ts";
import { clampToMinute, type Quote } from "./quote.ts";
import { beginRecording } from "./recorded-reply.ts";
import type { Call, Reply } from "./request.ts";

/** Clamps a quote to what the caller's limits can admit in one minute. Throws `too_many_tokens`. */
export function clampToLimits({ keyLimits, accountLimits }: Gateway, { key }: Caller, quote: Quote): Quote {
  const keyTokens = key.limits.tokensPerMinute ?? keyLimits.tokensPerMinute ?? Infinity;
  return clampToMinute(quote, Math.min(keyTokens, accountLimits.tokensPerMinute ?? Infinity));
}

/**
 * Takes a request, its tokens and a concurrency slot, all together or none, and sets the limit headers.
 * Throws `rate_limited` or `too_concurrent`.
 */
export async function admit(
  gateway: Gateway,
  { call, caller, tokens }: { readonly call: Call; readonly caller: Caller; readonly tokens: number },
  reply: Reply,
): Promise<Admission> {
  call.trace?.enter("admit");
  call.trace?.note({ tokens });
  const decision = await gateway.limiter.admit(admissionOf(gateway, caller, tokens));
  reply.setHeaders(call.wire.limitHeaders(decision.state, platform.now()));
  if (decision.admitted) return decision;
  throw declinedBy(gateway, { caller, tokens }, decision);
}

/** Takes a request that names no model, and a concurrency slot. Throws `rate_limited` or `too_concurrent`. */
export async function admitCaller(gateway: Gateway, caller: Caller): Promise<Admission> {
  const decision = await gateway.limiter.admit(admissionOf(gateway, caller, 0));
  if (decision.admitted) return decision;
  throw declinedBy(gateway, { caller, tokens: 0 }, decision);
}

function declinedBy(gateway: Gateway, wanted: Wanted, decision: LimitDecline): GatewayError {
  const { bound, retryAfterS } = decision;
  const limit = reachedLimit(gateway, wanted, decision);
  const facts = limit ? { limit } : undefined;
  return new GatewayError(bound === "rate" ? "rate_limited" : "too_concurrent", { retryAfterS, facts });
}

/** Cancels the admission of a request whose hold was declined, and sets the limit headers anew. */
export async function cancelAdmission(
  gateway: Gateway,
  { call, caller, slot }: { readonly call: Call; readonly caller: Caller; readonly slot: Admission },
  reply: Reply,
): Promise<void> {
  await slot.cancel();
  // While the limiter is away, the headers of the admission stay.
  const state = await gateway.limiter.usage(admissionOf(gateway, caller, 0)).catch(() => undefined);
  if (state) reply.setHeaders(call.wire.limitHeaders(state, platform.now()));
}

/** Whose windows and slots a key takes: its own, or those of the key at the top of its tree. */
export function limiterOf(
  key: ApiKey,
  defaults: Limits,
): { readonly keyId: string; readonly keyLimits: Limits } {
  return { keyId: rootIdOf(key), keyLimits: limitsOf({ key }, defaults) };
}

/** Returns the limits of a key: its own, and the configured ones where it has none. */
export function limitsOf({ key }: Pick<Caller, "key">, defaults: Limits): Limits {
  const { limits } = key;
  return {
    requestsPerMinute: limits.requestsPerMinute ?? defaults.requestsPerMinute,
    tokensPerMinute: limits.tokensPerMinute ?? defaults.tokensPerMinute,
    concurrentRequests: limits.concurrentRequests ?? defaults.concurrentRequests,
  };
}

interface Wanted {
  readonly caller: Caller;
  readonly tokens: number;
}

/** Finds the limit that declined a request. The limiter returns the tighter window of key and account. */
function reachedLimit(
  { keyLimits, accountLimits }: Gateway,
  { caller, tokens }: Wanted,
  { bound, state }: LimitDecline,
): LimitFacts | undefined {
  const limits = limitsOf(caller, keyLimits);
  if (bound === "concurrency") {
    const keyMax = limits.concurrentRequests ?? Infinity;
    const accountMax = accountLimits.concurrentRequests ?? Infinity;
    // The account runs at least as many requests as its key.
    const owner = accountMax <= keyMax ? "account" : accountMax === Infinity ? "key" : "either";
    return { name: "concurrency", owner, max: Math.min(keyMax, accountMax), needed: 1 };
  }
  const { requests } = state;
  const isRequests = requests !== undefined && requests.remaining < 1;
  const window = isRequests ? requests : state.tokens;
  if (!window) return undefined;
  const name = isRequests ? "requests" : "tokens";
  const keyMax = isRequests ? limits.requestsPerMinute : limits.tokensPerMinute;
  const accountMax = isRequests ? accountLimits.requestsPerMinute : accountLimits.tokensPerMinute;
  const owner = keyMax !== window.limit ? "account" : accountMax === window.limit ? "either" : "key";
  const used = window.limit - window.remaining;
  return { name, owner, max: window.limit, used, needed: isRequests ? 1 : tokens };
}

function admissionOf(
  { keyLimits, accountLimits }: Gateway,
  caller: Caller,
  tokens: number,
): AdmissionRequest {
  const { key } = caller;
  return { accountId: key.accountId, ...limiterOf(key, keyLimits), accountLimits, tokens };
}

/** A key that was read is trusted for this long; after a slower body the key is read again. */
const CALLER_TRUSTED_MS = 500;

/** Finds the caller of a request and records it in the request log. Throws `unknown_key`. */
export function authenticate(gateway: Gateway, call: Call): Soon<Caller> {
  call.trace?.enter("authenticate");
  const found = gateway.authenticate(call.secret);
  return found instanceof Promise
    ? found.then((caller) => recordCaller(call, caller))
    : recordCaller(call, found);
}

function recordCaller({ record, trace }: Call, caller: Caller): Caller {
  record.keyId = caller.key.id;
  record.keyHint = caller.key.hint;
  record.accountId = caller.key.accountId;
  trace?.foundKey(caller.key.id);
  return caller;
}

/** A request body and its caller, as current after the body has arrived. */
interface ReadRequest {
  readonly body: Body;
  readonly caller: Caller;
  /** Keeps the bodies of the request; `undefined` unless its key says so. */
  readonly recording: Recording | undefined;
}

/**
 * Reads the body of a request, and its key again when the body took more than 500 ms. Throws `not_json`,
 * `wrong_shape` and the other errors of the format's parser, the errors of `Call.readBody`, and
 * `unknown_key`.
 */
export async function readRequest(gateway: Gateway, call: Call, caller: Caller): Promise<ReadRequest> {
  call.trace?.enter("read");
  const startedAt = gateway.clock();
  const blocks = await call.readBody(caller);
  call.progress.waitedMs += gateway.clock() - startedAt;
  const recording = caller.key.recording && beginRecording(gateway, { call, caller, blocks });
  try {
    const reading = gateway.bodies.read({ wire: call.wire, owner: caller.key.accountId, blocks });
    const read = reading instanceof Promise ? await reading : reading;
    const body = read.request.model === "" ? withModel(read, requireDefault(gateway, call)) : read;
    call.progress.requestedModel = body.request.model;
    call.trace?.note({ stream: body.request.stream });
    const isTrusted = gateway.clock() - call.startedAt < CALLER_TRUSTED_MS;
    return { body, caller: isTrusted ? caller : await gateway.authenticate(call.secret), recording };
  } catch (fault) {
    recording?.[Symbol.dispose]();
    throw fault;
  }
}

/** Returns the default model of a route. Throws `wrong_shape` where there is none. */
function requireDefault({ defaultModels = {} }: Gateway, { wire: { surface } }: Call): string {
  const route = surface === "image_edits" || surface === "image_variations" ? "images" : surface;
  const model = route === "moderations" || route === "images" ? defaultModels[route] : undefined;
  if (model === undefined) throw new GatewayError("wrong_shape", { path: "model" });
  return model;
}
