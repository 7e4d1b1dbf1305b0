import type { Caller } from "../../src/accounts/keys/key.ts";
import type { Body } from "../../src/bodies/body.ts";
import { openBody } from "../../src/bodies/open-body.ts";
import type { Model, Route } from "../../src/domain/model.ts";
import { NO_USAGE, type Usage } from "../../src/domain/usage.ts";
import { Meter } from "../../src/gateway/meter.ts";
import { windowOf } from "../../src/gateway/plan.ts";
import { quoteRequest } from "../../src/gateway/quote.ts";
import type { Call, Candidate, HeldRequest, Plan, RunningCaller } from "../../src/gateway/request.ts";
import type { Upstream } from "../../src/upstream/upstream.ts";
import { type AnswerReader, findFormatPair, passthroughContext } from "../../src/wire/format-pair.ts";
import type { InputSize, ModelRequest } from "../../src/wire/model-request.ts";
import { WIRES } from "../../src/wire/registry.ts";
import type { ReplyPart } from "../../src/wire/reply-part.ts";
import { scriptedModel, scriptedRoute, TEST_PRICE } from "../support/test-catalog.ts";
import { createUpstream } from "./candidates.ts";

/** Every token costs twice as much as at the test price, cache writes included. */
export const LONG_PRICE = {
  input: TEST_PRICE.input * 2n,
  output: TEST_PRICE.output * 2n,
  cachedInput: TEST_PRICE.cachedInput * 2n,
  cacheWrite: TEST_PRICE.cacheWrite * 2n,
  cacheWrite1h: TEST_PRICE.cacheWrite1h * 2n,
};

/** The caller of every request: a key of "acme" without limits of its own. */
export const TEST_CALLER: Caller = {
  key: {
    id: "k",
    accountId: "acme",
    name: "k",
    hint: "sk-tg",
    limits: {},
    models: undefined,
    allowsClamp: false,
    allowsChildren: false,
    projectId: undefined,
    parentIds: [],
    createdAtMs: 0,
    expiresAtMs: undefined,
    revokedAtMs: undefined,
    createdBy: undefined,
    version: 1,
    previous: undefined,
  },
  accountSuspended: false,
};

/** A running caller whose key stays in force. */
export const LASTING_CALLER: RunningCaller = {
  keyId: "k",
  ended: undefined,
  aborted: false,
  addEventListener() {},
  removeEventListener() {},
  [Symbol.dispose]() {},
};

export interface HeldRequestOptions {
  readonly input?: Partial<InputSize>;
  readonly request?: Partial<ModelRequest>;
  readonly model?: Partial<Model>;
  readonly route?: Partial<Route>;
  readonly betas?: readonly string[];
  readonly isPassthrough?: boolean;
  /** One candidate for each; by default one that cannot be asked. */
  readonly upstreams?: readonly Upstream[];
  readonly caller?: RunningCaller;
  readonly clock?: () => number;
}

/**
 * A held messages request of 400 bytes and 1,000 tokens of output, with a window of 10,000 tokens. Input costs 1,000
 * nanos a token, cached 100, written 1,250 and 2,000, output 2,000.
 */
export function createHeldRequest(options: HeldRequestOptions = {}): HeldRequest {
  const { upstreams = [createUpstream("up")], caller = LASTING_CALLER, clock = () => 0 } = options;
  const call = createCall();
  const { wire } = call;
  const text = JSON.stringify({ model: "m", max_tokens: 1_000, messages: [{ role: "user", content: "hi" }] });
  const size = { textBytes: 400, mediaBytes: 0, images: 0, unbounded: false, serverTools: false };
  const request = { ...wire.parseRequest(text), input: { ...size, ...options.input }, ...options.request };
  const routes = upstreams.map(({ name }, priority) =>
    scriptedRoute(name, "theirs", { priority, ...options.route }),
  );
  const model = scriptedModel("m", "anthropic", { contextWindow: 10_000, routes, ...options.model });
  const candidates = routes.flatMap((route, index) => {
    const upstream = upstreams[index];
    return upstream ? [createCandidate(model, { route, upstream, request }, options)] : [];
  });
  const plan: Plan = { model, request, candidates, textBytes: 0, mayClamp: false };
  const quote = quoteRequest(plan);
  const meter = new Meter(quote, clock);
  const opened = openBody(wire, text);
  const body: Body = {
    request,
    plan: (questions) => opened.plan(questions),
    print: (surface, options) => opened.print(surface, options),
    printCount: (countOptions) => opened.printCount(countOptions),
    beginning: () => opened.beginning(),
    promptText: () => request.promptText(),
  };
  const hold = { walletId: "w", holdId: call.id, keyId: "k", granted: 0n };
  return { call, body, plan, quote, hold, meter, caller };
}

function createCandidate(
  model: Model,
  { route, upstream, request }: Pick<Candidate, "route" | "upstream"> & { readonly request: ModelRequest },
  { betas = [], isPassthrough = true }: HeldRequestOptions,
): Candidate {
  const passthrough = findFormatPair(WIRES.messages, ["messages"])?.answers(passthroughContext(request));
  if (!passthrough) throw new Error("Messages do not pass through");
  const headers = { "anthropic-beta": betas.join(",") };
  const opened = isPassthrough ? (WIRES.messages.optIns?.windowOn(route, headers, request) ?? 0) : 0;
  const { upstreamModel, betas: allowed, traits } = route;
  const { stream } = request;
  return {
    route,
    upstream,
    codec: readerOf(passthrough, isPassthrough),
    printOptions: {
      model: upstreamModel,
      outputTokensMax: 1_000,
      outputLimitField: undefined,
      betas: allowed,
      stream,
      traits,
    },
    contextWindow: windowOf(route, model, opened),
  };
}

function readerOf(session: AnswerReader, isPassthrough: boolean): AnswerReader {
  return {
    format: session.format,
    isPassthrough,
    context: session.context,
    readStream: (head) => session.readStream(head),
    readWhole: (head, text) => session.readWhole(head, text),
  };
}

export function createCall(): Call {
  return {
    id: "01920000-0000-7000-8000-000000000000",
    wire: WIRES.messages,
    secret: "sk-tg-test",
    headers: {},
    query: "",
    allowsClamp: false,
    startedAt: 0,
    createdAtS: 1_790_000_000,
    readBody: () => Promise.reject(new Error("The body was read already")),
    record: {},
    progress: { waitedMs: 0 },
  };
}

export interface MeteredOptions extends HeldRequestOptions {
  readonly usage?: Partial<Usage> | undefined;
  readonly generated?: string;
  readonly isCommitted?: boolean;
}

/** A held request whose meter has read an answer of the first candidate. */
export function createMeteredRequest(options: MeteredOptions = {}): HeldRequest {
  const held = createHeldRequest(options);
  readAnswer(held.meter, held.plan.candidates, options);
  return held;
}

function readAnswer(
  meter: Meter,
  [candidate]: readonly Candidate[],
  { usage, generated = "", isCommitted = false }: MeteredOptions,
): void {
  if (!candidate) throw new Error("There is no candidate");
  meter.restart(candidate);
  const isOutput = generated !== "";
  const part: ReplyPart = { text: "", isOutput, isReadable: isOutput, generated, usage: undefined };
  meter.add({ ...part, usage: usage && { ...NO_USAGE, ...usage } });
  if (isCommitted) meter.commit();
}
