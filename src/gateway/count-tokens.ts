import type { Body } from "../bodies/body.ts";
import type { Model, Route } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import type { Upstream, UpstreamCall, UpstreamKey } from "../upstream/upstream.ts";
import type { CountFormat } from "../wire/format.ts";
import { UpstreamFault } from "../wire/upstream-fault.ts";
import { admit, authenticate, readRequest } from "./admit.ts";
import { describeReason } from "./attempt.ts";
import type { Gateway } from "./gateway.ts";
import { selectModel } from "./plan.ts";
import { allowsRoute, preferencesOf } from "./preferences.ts";
import { readBounded, textOf } from "./relay-bytes.ts";
import type { Call, Candidate, Reply } from "./request.ts";
import { readAttribution } from "./scopes.ts";
import { AttemptTimeouts } from "./timeouts.ts";
import { forwardedHeaders, printCallBody } from "./upstream-call.ts";

/** After this time a local count is faster than the upstream's. */
const COUNT_MS_MAX = 5_000;
const COUNT_BYTES_MAX = 64 * 1024;

/** A prompt whose tokens are counted. */
interface CountedPrompt {
  readonly call: Call;
  readonly count: CountFormat;
  readonly body: Body;
  readonly model: Model;
  readonly accountId: string;
}

/** A route whose upstream can count. */
type Counter = Pick<Candidate, "route" | "upstream"> & { readonly key: UpstreamKey };

/**
 * The story of one count of a prompt's tokens. Free of charge and without a receipt, but counted by the request
 * limits. Headers of attribution are only checked: no run begins, and no value of a tag is kept. Throws a
 * `GatewayError` for the client; a failing upstream is replaced by a local count.
 *
 * @see https://docs.anthropic.com/en/api/messages-count-tokens
 */
export async function countTokens(gateway: Gateway, call: Call, reply: Reply): Promise<void> {
  const { count } = call.wire;
  if (!count) throw new GatewayError("not_built");
  const sender = await authenticate(gateway, call);
  const { body, caller } = await readRequest(gateway, call, sender);
  const model = selectModel(gateway.catalog, caller, body.request);
  call.record.model = model.id;
  readAttribution({ call, caller, request: body.request });
  const slot = await admit(gateway, { call, caller, tokens: 0 }, reply);
  call.trace?.enter("forward");
  const atUpstream = countAtUpstream(
    gateway,
    { call, count, body, model, accountId: caller.key.accountId },
    reply,
  );
  const counted = atUpstream.then((tokens) => tokens ?? countLocally(gateway, body, model));
  const tokens = await counted.finally(() => slot.settle(0));
  call.record.outcome = reply.signal.aborted ? "client_closed" : "ok";
  reply.end(count.printCount(tokens));
}

/** Counts by the local vocabulary, which is close enough to see whether a prompt fits the window. */
async function countLocally({ tokens }: Gateway, body: Body, model: Model): Promise<number> {
  const { inputTokens } = await tokens.count({ input: await body.promptText(), output: "" });
  return inputTokens + body.request.input.images * model.imageTokens;
}

/**
 * Counts at the first route that speaks the client's format. Returns `undefined` without such a route, and
 * when its upstream returns no count. Rejects only when the body cannot be printed. Never affects the
 * upstream's health.
 */
async function countAtUpstream(
  gateway: Gateway,
  prompt: CountedPrompt,
  { signal }: Reply,
): Promise<number | undefined> {
  const counter = findCounter(gateway, prompt);
  if (!counter) return undefined;
  const { upstream, key } = counter;
  const { clock, timer, log, shutdown } = gateway;
  const call = await prepareCount(counter, prompt);
  const startedAt = clock();
  const timeouts = new AttemptTimeouts({
    timeouts: upstream.timeouts,
    stream: false,
    startedAt,
    deadlineAt: startedAt + COUNT_MS_MAX,
    abortSources: [signal, shutdown],
    clock,
    timer,
  });
  let status = 0;
  try {
    const answer = await key.send(call, timeouts);
    status = answer.status;
    return await readAnswer(answer, prompt.count);
  } catch (fault) {
    const reason = timeouts.timedOut ? { timeout: timeouts.timedOut } : describeReason(fault);
    if (!signal.aborted) {
      log.info({ request: prompt.call.id, upstream: upstream.name, status, ...reason }, "count failed");
    }
    return undefined;
  } finally {
    prompt.call.progress.waitedMs += clock() - startedAt;
    timeouts.close();
  }
}

/** Skips keys with an open circuit: a count would be one more failing call. */
function findCounter({ upstreams }: Gateway, prompt: CountedPrompt): Counter | undefined {
  const { call, body, model, accountId } = prompt;
  const preferences = preferencesOf(call);
  for (const route of model.routes) {
    if (preferences && !allowsRoute(preferences, { model, route, request: body.request })) continue;
    const upstream: Upstream | undefined = upstreams.get(route.upstream);
    if (!upstream || !counts(upstream, route, prompt)) continue;
    const key = upstream.keys.find(({ health }) => !health.isOpen(accountId));
    if (key) return { route, upstream, key };
  }
  return undefined;
}

/** Whether an upstream has the count of the client's format. Not every host of Anthropic's models has it. */
function counts(
  { messagesHost, surfacesOf }: Upstream,
  { upstreamModel }: Route,
  { call: { wire }, count }: CountedPrompt,
): boolean {
  return count.isKnownTo(messagesHost) && surfacesOf(upstreamModel).includes(wire.surface);
}

async function prepareCount(counter: Counter, { call, count, body }: CountedPrompt): Promise<UpstreamCall> {
  const { route, upstream } = counter;
  const { upstreamModel: model } = route;
  const options = { model, ...call.wire.optIns?.optionsFor(route, upstream.messagesHost, call.headers) };
  return {
    surface: call.wire.surface,
    path: count.path(model),
    model,
    body: await printCallBody(() => body.printCount(options)),
    stream: false,
    headers: forwardedHeaders(call.wire, { call, body }, options),
    query: call.query,
  };
}

async function readAnswer(answer: Response, count: CountFormat): Promise<number> {
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new UpstreamFault("The prompt was not counted");
  }
  const body = await readBounded(answer, COUNT_BYTES_MAX);
  const tokens = body && count.readCount(textOf(body));
  if (tokens === undefined) throw body?.fault ?? new UpstreamFault("The answer is no count");
  return tokens;
}
