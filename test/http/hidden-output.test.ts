import { describe, expect, test } from "bun:test";
import { CHAT, MESSAGES, post, RESPONSES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, gate, type Script, type ScriptedFormat } from "../support/script.ts";
import { EVENT_STREAM, frame } from "../support/scripted-answers.ts";
import type { Json } from "../support/strict-json.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import {
  blockEvents,
  chunk,
  messageEnd,
  messageStart,
  textEvents,
  usageOf,
} from "./conformance/stream-events.ts";

/** The first-output timeout. Hidden output meets it; the rest of the answer comes later. */
const FIRST_OUTPUT_MS = 4_000;
const SILENCE_MS = 4_500;

const timeouts = { connectMs: 5_000, firstOutputMs: FIRST_OUTPUT_MS, idleMs: 20_000, totalMs: 30_000 };
const protocols: readonly ScriptedFormat[] = ["openai", "anthropic"];
const gateway = gatewayForTests({
  models: protocols.flatMap((protocol) => {
    const first = scriptedRoute(protocol, `hides-${protocol}`);
    const routes = [first, scriptedRoute("reserve", "answers", { priority: 2 })];
    return [
      scriptedModel(`one-${protocol}`, protocol, { routes: [first] }),
      scriptedModel(`two-${protocol}`, protocol, { routes }),
    ];
  }),
  upstreams: ({ openaiUrl, anthropicUrl }) => [
    scriptedUpstream("openai", "openai", { baseUrl: openaiUrl, timeouts }),
    scriptedUpstream("anthropic", "anthropic", { baseUrl: anthropicUrl, timeouts }),
    scriptedUpstream("reserve", "openai", { baseUrl: openaiUrl }),
  ],
});

/** Clients that do not see the first output of these upstreams. */
const HIDDEN: readonly (readonly [Surface<string>, ScriptedFormat, more: object])[] = [
  [MESSAGES, "openai", { max_tokens: 100 }],
  [RESPONSES, "openai", {}],
  [CHAT, "anthropic", { reasoning_effort: "high" }],
  [RESPONSES, "anthropic", { reasoning: { effort: "high" } }],
];

const THOUGHT: Record<ScriptedFormat, readonly Json[]> = {
  openai: [chunk({ role: "assistant", content: "" }), chunk({ reasoning_content: "One two three." })],
  anthropic: [
    messageStart(),
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
  ],
};
const REST: Record<ScriptedFormat, readonly Json[]> = {
  openai: [chunk({ content: "Hello." }), { ...chunk({}, "stop"), ...usageOf(11, 7) }],
  anthropic: [
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "c2ln" } },
    { type: "content_block_stop", index: 0 },
    ...textEvents(1, "Hello."),
    ...messageEnd("end_turn"),
  ],
};
const COST = 11n * 1_000n + 7n * 2_000n;
const OVERLOADED: Json = { type: "error", error: { type: "overloaded_error", message: "x" } };

const framed = (protocol: ScriptedFormat, lines: readonly Json[]) =>
  frame(
    protocol,
    lines.map((line) => JSON.stringify(line)),
  );
/** The frames without an end mark. */
const begins = (protocol: ScriptedFormat, lines: readonly Json[]) =>
  framed(protocol, lines).replace("data: [DONE]\n\n", "");

const ANSWERS: Script = answer({ headers: EVENT_STREAM, body: framed("openai", REST.openai) });
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/** Sends hidden reasoning and then fails. */
function thinksAndFails(protocol: ScriptedFormat): Script {
  return answer({ headers: EVENT_STREAM, body: begins(protocol, [...THOUGHT[protocol], OVERLOADED]) });
}

type Hidden = (typeof HIDDEN)[number];

const ask = ([surface, protocol, more]: Hidden, model: string, how: object = {}) =>
  post(gateway, surface, { model: `${model}-${protocol}`, stream: true, ...more, ...how });

describe("output that a client does not see", () => {
  /** Sends hidden reasoning, pauses longer than the first-output timeout, and continues with `then`. */
  const hidesLong = (protocol: ScriptedFormat, then: Script) =>
    gateway.upstream.on(`hides-${protocol}`, async function* (request) {
      yield { send: HEAD + begins(protocol, THOUGHT[protocol]) };
      yield { waitMs: SILENCE_MS };
      yield* then(request);
    });

  test("meets the first-output timeout", async () => {
    for (const protocol of ["openai", "anthropic"] as const)
      hidesLong(protocol, () => [{ send: framed(protocol, REST[protocol]) }, { leave: "close" }]);
    const responses = await Promise.all(HIDDEN.map((hidden) => ask(hidden, "one")));
    for (const response of responses) {
      expect(await response.text()).toContain("Hello.");
      const { captured, outcome } = await gateway.receiptOf(response);
      expect([captured, outcome?.outcome, outcome?.source]).toEqual([COST, "ok", "reported"]);
      expect(outcome?.firstOutputMs).toBeLessThan(outcome?.totalMs ?? 0);
    }
  });

  test("is charged to a client that disconnects", async () => {
    const { opened, open } = gate();
    let thinking = HIDDEN.length;
    const stay: Script = () => {
      thinking -= 1;
      // Later, the first-output timeout would have ended the request.
      if (thinking === 0) open();
      return [{ leave: "hang" }];
    };
    for (const protocol of ["openai", "anthropic"] as const) hidesLong(protocol, stay);
    const controller = new AbortController();
    const payers = await Promise.all(HIDDEN.map(() => gateway.newPayer("1.00")));
    const asked = HIDDEN.map((hidden, at) =>
      ask(hidden, "one", { signal: controller.signal, secret: payers[at]?.secret }).catch(() => "aborted"),
    );
    await opened;
    controller.abort();
    expect(await Promise.all(asked)).toEqual(HIDDEN.map(() => "aborted"));
    for (const { key } of payers) {
      await gateway.nothingIsHeld(key.accountId);
      expect((await gateway.balances(key.accountId)).posted).toBeLessThan(1_000_000_000n);
    }
  });
});

describe.each(HIDDEN.map((hidden) => [hidden[0].name, hidden[1], hidden] as const))(
  "output that a %s client does not see of %s",
  (_name, protocol, hidden) => {
    const [surface] = hidden;

    test("is no answer: after a failure another route answers", async () => {
      gateway.upstream.on(`hides-${protocol}`, thinksAndFails(protocol));
      gateway.upstream.on("answers", ANSWERS);
      const response = await ask(hidden, "two");
      expect(await response.text()).toContain("Hello.");
      const { captured, outcome } = await gateway.receiptOf(response);
      expect(captured).toBe(COST);
      expect(outcome).toMatchObject({ outcome: "ok", upstream: "reserve", source: "reported" });
      expect(outcome?.attempts.map(({ upstream }) => upstream)).toEqual([protocol, "reserve"]);
    });

    test("costs nothing when the upstream then fails", async () => {
      gateway.upstream.on(`hides-${protocol}`, thinksAndFails(protocol));
      const response = await ask(hidden, "one");
      const { captured, outcome } = await gateway.receiptOf(response);
      expect([captured, outcome?.source]).toEqual([0n, "none"]);
      await expectError(response, { name: nameOf(surface) }, "upstream_unavailable");
    });
  },
);

function nameOf({ name }: Surface<string>): "chat" | "messages" | "responses" {
  return name === "chat" || name === "messages" ? name : "responses";
}

test("reasoning that the client sees is an answer, which is charged and prevents a failover", async () => {
  gateway.upstream.on("hides-openai", thinksAndFails("openai"));
  const response = await post(gateway, CHAT, { model: "two-openai", stream: true });
  expect(await response.text()).toContain("One two three.");
  const { captured, outcome } = await gateway.receiptOf(response);
  expect(captured).toBeGreaterThan(0n);
  expect(outcome).toMatchObject({ outcome: "upstream_unavailable", upstream: "openai", source: "estimated" });
});

test("an empty content block of Anthropic counts as first output, and costs nothing", async () => {
  const lines = [messageStart(), ...blockEvents(0, { type: "text", text: "" }), OVERLOADED];
  gateway.upstream.on("hides-anthropic", answer({ headers: EVENT_STREAM, body: begins("anthropic", lines) }));
  const response = await post(gateway, CHAT, { model: "one-anthropic", stream: true });
  await expectError(response, CHAT, "upstream_unavailable");
  const { outcome } = await gateway.receiptOf(response);
  expect(outcome).toMatchObject({ source: "none", firstOutputMs: expect.any(Number) });
});
