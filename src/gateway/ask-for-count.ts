import type { Body } from "../bodies/body.ts";
import type { Model, Route } from "../domain/model.ts";
import type { Upstream, UpstreamCall } from "../upstream/upstream.ts";
import { COUNT_PATH, readCount } from "../wire/anthropic-messages/count-tokens.ts";
import { UpstreamFault } from "../wire/protocol.ts";
import { headersFor } from "./attempt.ts";
import type { Call, Gateway, Reply } from "./gateway.ts";
import { readBounded, textOf } from "./read-bounded.ts";
import { describeReason } from "./report-attempt.ts";
import { watchAttempt } from "./timeouts.ts";
import { printCallBody } from "./upstream-call.ts";

/** A count that takes longer is not worth waiting for: we can count too. */
const COUNT_MS_MAX = 5_000;
const COUNT_BYTES_MAX = 64 * 1024;

interface Question {
  readonly call: Call;
  readonly body: Body;
  readonly model: Model;
}

interface Counter {
  readonly route: Route;
  readonly upstream: Upstream;
}

/**
 * Asks the first route of a model that speaks the client's format how many tokens its prompt has; `undefined` when
 * none does, or it does not say. Rejects only when the body cannot be printed. What comes of it says nothing of how that upstream answers.
 */
export async function askForCount(
  gateway: Gateway,
  question: Question,
  { signal }: Reply,
): Promise<number | undefined> {
  const counter = findCounter(gateway, question);
  if (!counter) return undefined;
  const { upstream } = counter;
  const { clock, log, shutdown } = gateway;
  const sent = await callFor(counter.route, question);
  const startedAt = clock();
  const watch = watchAttempt({
    timeouts: upstream.timeouts,
    stream: false,
    startedAt,
    deadlineAt: startedAt + COUNT_MS_MAX,
    enders: [signal, shutdown],
    clock,
  });
  let status = 0;
  try {
    const answer = await upstream.send(sent, watch);
    status = answer.status;
    return await readAnswer(answer);
  } catch (fault) {
    const reason = watch.timedOut ? { timeout: watch.timedOut } : describeReason(fault);
    if (!signal.aborted) {
      log.info({ request: question.call.id, upstream: upstream.name, status, ...reason }, "count failed");
    }
    return undefined;
  } finally {
    watch.close();
  }
}

/** One whose circuit is open is left alone: it would only be another request that fails. */
function findCounter({ upstreams }: Gateway, { call, model }: Question): Counter | undefined {
  for (const route of model.routes) {
    const upstream = upstreams.get(route.upstream);
    if (upstream?.surfaces.includes(call.wire.surface) && !upstream.health.isOpen()) {
      return { route, upstream };
    }
  }
  return undefined;
}

async function callFor(route: Route, { call, body }: Question): Promise<UpstreamCall> {
  return {
    surface: call.wire.surface,
    path: COUNT_PATH,
    body: await printCallBody(() => body.printCount(route.upstreamModel, route.betas)),
    stream: false,
    headers: headersFor(call.wire, call, route),
    query: call.query,
  };
}

async function readAnswer(answer: Response): Promise<number> {
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new UpstreamFault("The prompt was not counted");
  }
  const body = await readBounded(answer, COUNT_BYTES_MAX);
  const tokens = body && readCount(textOf(body));
  if (tokens === undefined) throw body?.fault ?? new UpstreamFault("The answer is no count");
  return tokens;
}
