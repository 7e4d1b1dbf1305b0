import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { CHAT, MESSAGES, post } from "../support/client.ts";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "../support/otlp/receiver.ts";
import { tracesTo } from "../support/otlp/traces-to.ts";
import { answer, gate, type Script } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute, scriptedUpstreams } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const VERBS = ["authenticate", "read", "plan", "quote", "admit", "hold", "forward", "settle", "conclude"];
const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const refuses = (status: number): Script => answer({ status, body: '{"error":{"message":"no"}}' });

let receiver: OtlpReceiver;
let gateway: TestGateway;
beforeAll(async () => {
  receiver = startOtlpReceiver();
  const routes = [
    scriptedRoute("scripted-openai", "first"),
    scriptedRoute("scripted-openai", "second", { priority: 2 }),
  ];
  gateway = await startTestGateway({
    models: [
      scriptedModel("chat", "openai"),
      scriptedModel("claude", "anthropic"),
      scriptedModel("two", "openai", { routes }),
    ],
    upstreams: scriptedUpstreams,
    config: { traces: tracesTo(receiver.url) },
  });
});
beforeEach(() => gateway.upstream.reset());
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

/** The spans of a request, by the id in its answer. */
async function spansOf(response: Response): Promise<readonly ReceivedSpan[]> {
  await response.text();
  return receiver.trace(
    ({ attributes }) => attributes["tollgate.request_id"] === response.headers.get("x-request-id"),
  );
}

/** The tree as lines: each span with the names of its ancestors, in the order of their starts. */
function treeOf(spans: readonly ReceivedSpan[]): readonly string[] {
  const pathOf = (span: ReceivedSpan): string => {
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    return parent ? `${pathOf(parent)} > ${span.name}` : span.name;
  };
  return [...spans].sort((a, b) => a.startMs - b.startMs).map(pathOf);
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const span = spans.find((each) => each.name === name);
  if (!span) throw new Error(`There is no span ${name}`);
  return span;
}

const ROOT = "POST /v1/chat/completions";
const story = (root: string, attempts: readonly string[]) => [
  root,
  ...VERBS.flatMap((verb) => [
    `${root} > ${verb}`,
    ...(verb === "forward" ? attempts.map((attempt) => `${root} > forward > ${attempt}`) : []),
  ]),
];

describe("the trace of a request", () => {
  test("has one span per verb and one per upstream attempt, with GenAI attributes", async () => {
    const response = await post(gateway, CHAT);
    const spans = await spansOf(response);
    expect(treeOf(spans)).toEqual(story(ROOT, ["chat chat"]));
    expect(named(spans, ROOT)).toMatchObject({
      service: "tollgate",
      kind: "server",
      parentSpanId: "",
      isError: false,
      attributes: {
        "http.request.method": "POST",
        "http.route": "/v1/chat/completions",
        "http.response.status_code": 200,
        "gen_ai.request.model": "chat",
        "tollgate.outcome": "ok",
        "tollgate.charged_usd": response.headers.get("x-tollgate-cost-usd") ?? "",
        "tollgate.account_id": gateway.accountId,
      },
    });
    expect(named(spans, "chat chat")).toMatchObject({
      kind: "client",
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "chat",
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 7,
        "server.address": "127.0.0.1",
        "http.response.status_code": 200,
        "tollgate.upstream": "scripted-openai",
      },
    });
  });

  test("has the same spans for a stream, whose attempt lasts until its last event", async () => {
    const spans = await spansOf(await post(gateway, MESSAGES, { stream: true }));
    const root = "POST /v1/messages";
    expect(treeOf(spans)).toEqual(story(root, ["chat claude"]));
    expect(named(spans, "chat claude").attributes["gen_ai.provider.name"]).toBe("anthropic");
    expect(named(spans, "settle").startMs).toBeGreaterThanOrEqual(named(spans, "chat claude").endMs);
  });

  const RESPONSE = "gen_ai.response.";
  const usage = { input: 11, output: 7 };
  const TRANSLATED = { ...MESSAGES, body: (more?: object) => MESSAGES.body({ ...more, model: "chat" }) };
  const SAID = { [`${RESPONSE}model`]: "said-model" };
  test.each([
    ["a chat", CHAT, "chat chat", { [`${RESPONSE}id`]: "chatcmpl-scripted" }, "length"],
    ["a message", MESSAGES, "chat claude", { [`${RESPONSE}id`]: "msg_scripted" }, "max_tokens"],
    ["a translated message", TRANSLATED, "chat chat", {}, "length"],
  ])("has what the upstream said of %s, whole and streamed", async (_what, surface, name, id, finish) => {
    for (const model of ["chat", "claude"])
      gateway.upstream.on(
        model,
        answerWith({ text: "x".repeat(200_000), finish, usage, model: "said-model" }),
      );
    for (const stream of [false, true]) {
      const { attributes } = named(await spansOf(await post(gateway, surface, { stream })), name);
      expect(attributes).toMatchObject({ ...SAID, ...id, [`${RESPONSE}finish_reasons`]: [finish] });
    }
  });

  test("has no name of the configuration for what the upstream did not say", async () => {
    gateway.upstream.on("chat", refuses(500));
    const { attributes } = named(await spansOf(await post(gateway, CHAT)), "chat chat");
    expect(Object.keys(attributes).filter((key) => key.startsWith(RESPONSE))).toEqual([]);
  });

  test("has two attempts for a failover, of which the first is an error", async () => {
    gateway.upstream.on("first", refuses(500));
    const spans = await spansOf(await post(gateway, CHAT, { model: "two" }));
    expect(treeOf(spans)).toEqual(story(ROOT, ["chat first", "chat second"]));
    expect(named(spans, "chat first")).toMatchObject({
      isError: true,
      attributes: { "error.type": "upstream_unavailable", "http.response.status_code": 500 },
    });
    expect(named(spans, "chat second").isError).toBe(false);
    expect(named(spans, ROOT)).toMatchObject({ isError: false, attributes: { "tollgate.attempts": 2 } });
  });

  test("ends at the hold for a wallet without money, which is no fault", async () => {
    const { secret } = await gateway.newPayer("0");
    const spans = await spansOf(await post(gateway, CHAT, { secret }));
    expect(treeOf(spans)).toEqual(story(ROOT, []).slice(0, 7));
    for (const name of ["hold", ROOT]) {
      expect(named(spans, name)).toMatchObject({
        isError: false,
        attributes: { "error.type": "insufficient_balance" },
      });
    }
    expect(named(spans, ROOT).attributes["http.response.status_code"]).toBe(402);
  });

  test("ends at the limiter for a key above its limit", async () => {
    const { secret } = await gateway.newKey({ limits: { requestsPerMinute: 0 } });
    const spans = await spansOf(await post(gateway, CHAT, { secret }));
    expect(treeOf(spans)).toEqual(story(ROOT, []).slice(0, 6));
    expect(named(spans, "admit").attributes["error.type"]).toBe("rate_limit_exceeded");
  });

  test("ends at the authentication for an unknown key", async () => {
    const spans = await spansOf(await post(gateway, CHAT, { secret: "sk-tg-unknown" }));
    expect(treeOf(spans)).toEqual([ROOT, `${ROOT} > authenticate`]);
  });

  test("of a failed upstream is an error with the code of the contract", async () => {
    gateway.upstream.on("chat", refuses(500));
    const spans = await spansOf(await post(gateway, CHAT));
    expect(named(spans, ROOT)).toMatchObject({
      isError: true,
      attributes: { "error.type": "upstream_unavailable", "http.response.status_code": 502 },
    });
  });

  test("of a client that disconnects is complete, and no error", async () => {
    const { opened, open } = gate();
    gateway.upstream.on("chat", answerWith(undefined, { gate: opened }));
    const id = `00-${"ab".repeat(16)}-${PARENT}-01`;
    const client = new AbortController();
    const pending = post(gateway, CHAT, { signal: client.signal, headers: { traceparent: id } });
    await gateway.upstream.waitForSeen(1);
    client.abort();
    await pending.catch(() => undefined);
    const spans = await receiver.trace(({ traceId }) => traceId === "ab".repeat(16));
    open();
    expect(treeOf(spans)).toEqual(story(ROOT, ["chat chat"]));
    expect(named(spans, ROOT)).toMatchObject({
      isError: false,
      attributes: { "tollgate.outcome": "client_closed" },
    });
  });

  test("has no text of prompt or answer, no secret and no header of the client", async () => {
    await spansOf(await post(gateway, CHAT, { headers: { "x-canary": "canary-header" } }));
    const all = Buffer.concat(receiver.bytes).toString("latin1");
    for (const text of ["Say hello", "canary-header", gateway.secret]) expect(all).not.toContain(text);
  });

  test("has its id in the log line of the request", async () => {
    const response = await post(gateway, CHAT);
    const [span] = await spansOf(response);
    const [line] = gateway.log.about(response.headers.get("x-request-id") ?? "");
    expect(line).toMatchObject({ event: "request", traceId: span?.traceId });
  });
});

describe("the context of a trace", () => {
  const context = (traceparent: string, tracestate = "") => ({
    headers: { traceparent, ...(tracestate && { tracestate }) },
  });

  test("is continued from the client and passed on to the upstream as that of the attempt", async () => {
    const response = await post(gateway, CHAT, context(`00-${TRACE_ID}-${PARENT}-01`, "vendor=1,other=2"));
    const spans = await spansOf(response);
    expect(named(spans, ROOT)).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: PARENT,
      traceState: "vendor=1,other=2",
    });
    expect(gateway.upstream.seen[0]?.headers).toMatchObject({
      traceparent: `00-${TRACE_ID}-${named(spans, "chat chat").spanId}-01`,
      tracestate: "vendor=1,other=2",
    });
  });

  test("without the sampled flag is passed on, and nothing is exported", async () => {
    const traceId = "cd".repeat(16);
    const response = await post(gateway, CHAT, context(`00-${traceId}-${PARENT}-00`));
    await response.text();
    await spansOf(await post(gateway, CHAT));
    expect(receiver.spans.some((span) => span.traceId === traceId)).toBe(false);
    expect(gateway.upstream.seen[0]?.headers.traceparent).toMatch(
      new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`),
    );
    const [line] = gateway.log.about(response.headers.get("x-request-id") ?? "");
    expect(line?.traceId).toBe(traceId);
  });

  test.each([
    ["of zeros", `00-${"0".repeat(32)}-${PARENT}-01`],
    ["with a short id", `00-abc-${PARENT}-01`],
    ["in upper case", `00-${TRACE_ID.toUpperCase()}-${PARENT}-01`],
    ["of version ff", `ff-${TRACE_ID}-${PARENT}-01`],
    ["sent twice", `00-${TRACE_ID}-${PARENT}-01, 00-${TRACE_ID}-${PARENT}-01`],
    ["of 8 KiB", "00-".repeat(2_700)],
    ["of other text", "%00\\u0000<script>"],
  ])("%s is ignored, and the request begins a trace of its own", async (_what, traceparent) => {
    const spans = await spansOf(await post(gateway, CHAT, context(traceparent, "=,,=\\x,a=b".repeat(200))));
    expect(named(spans, ROOT)).toMatchObject({ parentSpanId: "", traceState: "" });
    expect(named(spans, ROOT).traceId).not.toBe(TRACE_ID);
  });
});

describe("a gateway", () => {
  test("without traces passes no trace headers on", async () => {
    const plain = await startTestGateway();
    await (await post(plain, CHAT, { headers: { traceparent: `00-${TRACE_ID}-${PARENT}-01` } })).text();
    expect(plain.upstream.seen[0]?.headers.traceparent).toBeUndefined();
    await plain.stop();
  });

  test("that does not propagate neither continues the trace of a client nor passes its own on", async () => {
    const traces = tracesTo(receiver.url, {
      propagates: false,
      protocol: "http/json",
      headers: { "x-token": "t" },
    });
    const closed = await startTestGateway({ config: { traces } });
    const response = await post(closed, CHAT, { headers: { traceparent: `00-${TRACE_ID}-${PARENT}-01` } });
    expect(named(await spansOf(response), ROOT)).toMatchObject({ parentSpanId: "" });
    expect(closed.upstream.seen[0]?.headers.traceparent).toBeUndefined();
    expect(receiver.exports.at(-1)?.get("content-type")).toBe("application/json");
    expect(receiver.exports.at(-1)?.get("x-token")).toBe("t");
    await closed.stop();
  });

  test("that captures content sends the texts of prompt and answer, cut to 16,384 characters", async () => {
    const open = await startTestGateway({
      config: { traces: tracesTo(receiver.url, { capturesContent: true }) },
    });
    const messages = [{ role: "user", content: `Say hello. ${"x".repeat(20_000)}` }];
    const spans = await spansOf(await post(open, CHAT, { messages }));
    const { attributes } = named(spans, "chat chat");
    const [prompt] = JSON.parse(String(attributes["gen_ai.input.messages"]));
    expect(prompt).toMatchObject({ role: "user", parts: [{ type: "text" }] });
    expect(prompt.parts[0].content).toStartWith("Say hello. xxx");
    expect(prompt.parts[0].content).toHaveLength(16_384);
    const [said] = JSON.parse(String(attributes["gen_ai.output.messages"]));
    expect(said.parts[0].content).toContain("ello");
    await open.stop();
  });

  test("that samples nothing of its own exports only the traces that clients have sampled", async () => {
    const traces = tracesTo(receiver.url, { sampler: { isParentBased: true, ratio: 0 } });
    const sampling = await startTestGateway({ config: { traces } });
    const own = await post(sampling, CHAT);
    await own.text();
    const traceId = "ef".repeat(16);
    await (await post(sampling, CHAT, { headers: { traceparent: `00-${traceId}-${PARENT}-01` } })).text();
    await receiver.trace((span) => span.traceId === traceId);
    const id = own.headers.get("x-request-id") ?? "";
    expect(receiver.spans.some(({ attributes }) => attributes["tollgate.request_id"] === id)).toBe(false);
    await sampling.stop();
  });
});
