import { describe, expect, test } from "bun:test";
import { createCanaries } from "../support/canaries.ts";
import { CHAT, post } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer } from "../support/script.ts";
import type { TestGateway } from "../support/test-gateway.ts";

const debugging = gatewayForTests({ config: { logLevel: "debug" } });
const quiet = gatewayForTests();

/** The lines of a request once it is logged, without the line of the request itself. */
async function stepsOf(gateway: TestGateway, response: Response) {
  await response.text();
  const lines = gateway.log.about(response.headers.get("x-request-id") ?? "");
  return lines.filter(({ event }) => event !== "request");
}

describe("at the level debug", () => {
  test("each verb and each attempt of a request has a line with its id", async () => {
    const steps = await stepsOf(debugging, await post(debugging, CHAT));
    expect(steps.map(({ event, verb }) => verb ?? event)).toEqual([
      "authenticate",
      "read",
      "plan",
      "quote",
      "admit",
      "hold",
      "attempt ended",
      "forward",
      "settle",
      "conclude",
    ]);
    expect(steps.every(({ level, ms }) => level === "debug" && typeof ms === "number")).toBe(true);
    expect(steps.find(({ verb }) => verb === "plan")).toMatchObject({ model: "chat", candidates: 1 });
    expect(steps.find(({ event }) => event === "attempt ended")).toMatchObject({
      upstream: "scripted-openai",
      status: 200,
      outcome: "ok",
      inputTokens: 11,
      outputTokens: 7,
    });
  });

  test("the line of the verb that refused a request has the code of its error", async () => {
    const { secret } = await debugging.newPayer("0");
    const steps = await stepsOf(debugging, await post(debugging, CHAT, { secret }));
    expect(steps.at(-1)).toMatchObject({ verb: "hold", error: "insufficient_balance" });
  });

  test("no line has a text of the client or of the upstream", async () => {
    const canaries = createCanaries();
    debugging.upstream.on("chat", answer(canaries.refusal(500)));
    const headers = {
      traceparent: canaries.next("traceparent"),
      tracestate: canaries.next("tracestate"),
      "user-agent": canaries.next("agent"),
      cookie: canaries.next("cookie"),
      "x-request-id": canaries.next("id"),
    };
    const messages = [{ role: "user", content: canaries.next("prompt") }];
    const model = canaries.next("model");
    for (const body of [{ messages }, { messages, model }, { messages, user: canaries.next("user") }]) {
      await (await post(debugging, CHAT, { headers, ...body })).text();
    }
    await (await post(debugging, CHAT, { secret: canaries.next("secret"), headers })).text();
    await (await post(debugging, CHAT, { raw: canaries.next("raw"), headers })).text();
    canaries.expectNone(debugging.log.text());
    expect(debugging.log.text()).not.toContain(debugging.secret);
  });
});

describe("at the level info", () => {
  test("a request has one line, with the hint of its key and its model", async () => {
    const response = await post(quiet, CHAT);
    expect(await stepsOf(quiet, response)).toEqual([]);
    const [line] = quiet.log.about(response.headers.get("x-request-id") ?? "");
    expect(line).toMatchObject({
      event: "request",
      keyHint: quiet.secret.slice(0, 10),
      model: "chat",
      outcome: "ok",
      status: 200,
      chargedUsd: response.headers.get("x-tollgate-cost-usd"),
    });
    expect(line).not.toContainKey("traceId");
  });

  test("the line of a refused request has the model of the catalog that it asked for", async () => {
    const { secret } = await quiet.newPayer("0");
    const response = await post(quiet, CHAT, { secret });
    const [line] = quiet.log.about(response.headers.get("x-request-id") ?? "");
    expect(line).toMatchObject({ model: "chat", outcome: "insufficient_balance" });
  });

  test("a reload that marks a key for debug logs the steps of that key alone", async () => {
    const marked = await quiet.newKey();
    const other = await quiet.newKey();
    const settings = {
      upstreams: [],
      models: [],
      keyLimits: {},
      accountLimits: {},
      clientDisconnect: "charge_input",
      drainMs: 2_000,
    } as const;
    quiet.tollgate.apply({ ...settings, debugKeys: [marked.key.id] });
    const steps = await stepsOf(quiet, await post(quiet, CHAT, { secret: marked.secret }));
    expect(steps.map(({ verb, level }) => [verb, level])).toEqual([
      ["authenticate", "info"],
      ["read", "info"],
      ["plan", "info"],
    ]);
    expect(await stepsOf(quiet, await post(quiet, CHAT, { secret: other.secret }))).toEqual([]);
  });
});
