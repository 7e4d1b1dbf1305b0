import { afterAll, beforeAll } from "bun:test";
import type { Protocol } from "../../src/domain/model.ts";
import { type Cause, ERRORS, type ErrorRow } from "../../src/errors.ts";
import { answer, resetAtOnce, silence } from "./script.ts";
import { answerWith } from "./scripted-answers.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream, scriptedUpstreams } from "./test-catalog.ts";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

/** One failure that a client can cause, and its row of the error table. */
export interface FailureCase {
  readonly name: string;
  readonly row: ErrorRow;
  readonly model: string;
  readonly secret: string;
  readonly prompt: string;
}

/** A gateway on which a client can cause every failure. The failures do not affect each other. */
export interface FailingGateway {
  readonly gateway: TestGateway;
  readonly failures: readonly FailureCase[];
}

/** Starts one failing gateway per protocol before the tests of a file, and stops them afterwards. */
export function failingGateways(): (protocol: Protocol) => FailingGateway {
  const failing = new Map<Protocol, FailingGateway>();
  beforeAll(async () => {
    for (const protocol of ["openai", "anthropic"] as const) {
      failing.set(protocol, await startFailingGateway(protocol));
    }
  });
  afterAll(async () => {
    for (const { gateway } of failing.values()) await gateway.stop();
  });
  return (protocol) => {
    const found = failing.get(protocol);
    if (!found) throw new Error("The gateway has not started");
    return found;
  };
}

const PROMPT = "Say hello.";
const HASTY = { connectMs: 5_000, firstOutputMs: 100, idleMs: 100, totalMs: 100 };

/**
 * Starts a failing gateway for one protocol. The model `good` answers; `breaks` fails in the middle of a
 * stream.
 */
export async function startFailingGateway(protocol: "openai" | "anthropic"): Promise<FailingGateway> {
  const names = ["good", "tool", "breaks", "rejects", "unreachable", "empty", "other"];
  const gateway = await startTestGateway({
    models: [
      ...names.map((name) => scriptedModel(name, protocol)),
      scriptedModel("slow", protocol, { routes: [scriptedRoute("hasty", "slow")] }),
    ],
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      scriptedUpstream("hasty", protocol, {
        baseUrl: protocol === "openai" ? scripted.openaiUrl : scripted.anthropicUrl,
        timeouts: HASTY,
      }),
    ],
  });
  script(gateway);
  return { gateway, failures: await failuresOf(gateway) };
}

/** Scripts the answers of each upstream model. */
function script({ upstream }: TestGateway): void {
  const tool = { name: "look_up", arguments: '{"city":"Oslo"}' };
  upstream.on("tool", answerWith({ tool, usage: { input: 11, output: 7 } }));
  upstream.on("breaks", answerWith(undefined, { cutAt: 700, end: "close", lingerMs: 1_000 }));
  upstream.on("rejects", answer({ status: 400, body: '{"error":{"message":"no"}}' }));
  upstream.on("unreachable", resetAtOnce);
  upstream.on("empty", answerWith({ usage: { input: 3, output: 4 } }));
  upstream.on("slow", silence);
}

async function failuresOf(gateway: TestGateway): Promise<FailureCase[]> {
  const failure = (name: string, cause: Cause, more: Partial<FailureCase> = {}): FailureCase => ({
    name,
    row: ERRORS[cause],
    model: "good",
    secret: gateway.secret,
    prompt: PROMPT,
    ...more,
  });
  const spendingLimit = { amount: 0n, period: "total" as const };
  const poor = await gateway.newPayer("0");
  const bounded = await gateway.newPayer("1", { spendingLimit });
  const busy = await gateway.newKey({ limits: { concurrentRequests: 0 } });
  const restricted = await gateway.newKey({ models: ["other"] });
  return [
    failure("400", "rejected_by_upstream", { model: "rejects" }),
    failure("401", "unknown_key", { secret: "sk-tg-wrong" }),
    failure("402 of the wallet", "wallet_empty", { secret: poor.secret }),
    failure("402 of the limit", "spending_limit", { secret: bounded.secret }),
    failure("403", "model_not_allowed", { secret: restricted.secret }),
    failure("404", "unknown_model", { model: "nobody" }),
    failure("413", "body_too_large", { prompt: "x".repeat(30 * 1024 * 1024) }),
    failure("422", "wrong_shape", { model: "m".repeat(300) }),
    failure("429", "too_concurrent", { secret: busy.secret }),
    failure("500", "internal", { secret: await brokenKey(gateway) }),
    failure("502", "upstream_unavailable", { model: "unreachable" }),
    failure("502 that was charged", "empty_charged", { model: "empty" }),
    failure("504", "upstream_total_timeout", { model: "slow" }),
  ];
}

/** Returns the secret of a key whose database row is invalid. Only requests with this key fail. */
async function brokenKey({ newKey, sqlite }: TestGateway): Promise<string> {
  const { key, secret } = await newKey({ models: ["good"] });
  sqlite.client.run("UPDATE api_keys SET models = 'broken' WHERE id = ?", [key.id]);
  const row = sqlite.client.query("SELECT models FROM api_keys WHERE id = ?").get(key.id);
  if (JSON.stringify(row) !== '{"models":"broken"}') throw new Error("The key could not be broken");
  return secret;
}
