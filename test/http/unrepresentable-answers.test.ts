import { expect, test } from "bun:test";
import { ERRORS } from "../../src/errors.ts";
import { MESSAGES, post } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer } from "../support/script.ts";
import { EVENT_STREAM, frame } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { chunk, usageOf } from "./conformance/stream-events.ts";

const routes = [scriptedRoute("first", "first"), scriptedRoute("second", "second", { priority: 2 })];
const gateway = gatewayForTests({
  models: [scriptedModel("gpt", "openai", { routes })],
  upstreams: ({ openaiUrl: baseUrl }) => [
    scriptedUpstream("first", "openai", { baseUrl, circuitFailures: 1 }),
    scriptedUpstream("second", "openai", { baseUrl }),
  ],
});

const COST = 1_000n * 1_000n + 500n * 2_000n;
const call = { index: 0, id: "a", type: "function", function: { name: "look_up", arguments: "no json" } };
const usage = usageOf(1_000, 500);
const lines = [
  chunk({ role: "assistant", content: "Well:" }),
  chunk({ tool_calls: [call] }),
  { ...chunk({}, "tool_calls"), ...usage },
];
const message = { role: "assistant", content: "Well:", tool_calls: [call] };
const whole = { id: "x", choices: [{ index: 0, message, finish_reason: "tool_calls" }], ...usage };

// A client can make a model write anything.
test("an unrepresentable tool call is charged as reported, not retried, and does not open the circuit", async () => {
  const streamed = frame(
    "openai",
    lines.map((line) => JSON.stringify(line)),
  );
  gateway.upstream.on(
    "first",
    answer({ body: JSON.stringify(whole) }),
    answer({ headers: EVENT_STREAM, body: streamed }),
    answer({ body: JSON.stringify(whole) }),
  );
  for (const stream of [false, true, false]) {
    const response = await post(gateway, MESSAGES, { model: "gpt", max_tokens: 1_000, stream });
    // A stream begins before its settlement, and ends after it.
    if (stream) expect(await response.text()).toContain(ERRORS.upstream_broke_charged.message);
    else await expectError(response, MESSAGES, "upstream_broke_charged");
    const { captured, outcome } = await gateway.receiptOf(response);
    expect(captured).toBe(COST);
    expect(outcome).toMatchObject({ outcome: "upstream_unavailable", source: "reported", upstream: "first" });
  }
  expect(gateway.upstream.seen.map(({ model }) => model)).toEqual(["first", "first", "first"]);
});
