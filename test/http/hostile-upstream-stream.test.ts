import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { ERRORS } from "../../src/errors.ts";
import { createCanaries } from "../support/canaries.ts";
import { CHAT, dataOf, MESSAGES, post, SURFACES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { HELLO } from "../support/model-output.ts";
import { answer, type Script, type ScriptRequest, type Step } from "../support/script.ts";
import { answerWith, EVENT_STREAM, frame, streamedLines } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
} from "../support/test-catalog.ts";

const MIB = 1024 * 1024;
/** Each kind of upstream reaches one timeout and no other, on a busy machine too. */
const PATIENT = { connectMs: 60_000, firstOutputMs: 60_000, idleMs: 60_000, totalMs: 60_000 };
const TIMEOUTS = { hasty: { ...PATIENT, firstOutputMs: 250 }, brief: { ...PATIENT, totalMs: 3_000 } };
const KINDS = ["hasty", "brief"] as const;
const secrets = createCanaries();

const gateway = gatewayForTests({
  models: (["openai", "anthropic"] as const).flatMap((protocol) => {
    const model = protocol === "openai" ? CHAT.model : MESSAGES.model;
    const special = KINDS.map((kind) =>
      scriptedModel(`${model}-${kind}`, protocol, { routes: [scriptedRoute(`${kind}-${protocol}`, model)] }),
    );
    return [scriptedModel(model, protocol), ...special];
  }),
  upstreams: (scripted) => [
    ...scriptedUpstreams(scripted),
    ...KINDS.flatMap((kind) => [
      scriptedUpstream(`${kind}-openai`, "openai", { baseUrl: scripted.openaiUrl, timeouts: TIMEOUTS[kind] }),
      scriptedUpstream(`${kind}-anthropic`, "anthropic", {
        baseUrl: scripted.anthropicUrl,
        timeouts: TIMEOUTS[kind],
      }),
    ]),
  ],
});

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const MARK: Record<Surface["name"], RegExp> = { chat: /\[DONE\]/, messages: /message_stop/ };
const FIRST_OUTPUT: Record<Surface["name"], string> = { chat: "Hello", messages: "content_block_start" };

/** The events of the default answer before the one that contains a word. */
function until(word: string, request: ScriptRequest): string {
  const text = frame(request.protocol, streamedLines(request, HELLO));
  return text.slice(0, text.lastIndexOf("\n\n", text.indexOf(word)) + 2);
}

/** Sends the beginning of a stream, and then a piece again and again until the client disconnects. */
function drips(beginning: (request: ScriptRequest) => string, piece: string): Script {
  return function* (request): Generator<Step> {
    yield { send: HEAD + beginning(request) };
    for (;;) yield* [{ waitMs: 20 }, { send: piece }];
  };
}

describe.each(SURFACES)("an upstream that only keeps its connection alive, on $path,", (surface) => {
  const signs = { comment: ": PROCESSING\n\n", ping: 'event: ping\ndata: {"type":"ping"}\n\n' };

  test.each(["comment", "ping"] as const)("with a %s exceeds the first-output timeout", async (sign) => {
    gateway.upstream.on(
      surface.model,
      drips((request) => until(FIRST_OUTPUT[surface.name], request), signs[sign]),
    );
    const response = await post(gateway, surface, { stream: true, model: `${surface.model}-hasty` });
    expect((await gateway.receiptOf(response)).captured).toBe(0n);
    await expectError(response, surface, "upstream_timeout");
    await gateway.upstream.seen[0]?.over;
  });

  test.each(["comment", "ping"] as const)(
    "with a %s after output is cut off by the total timeout",
    async (sign) => {
      gateway.upstream.on(
        surface.model,
        drips((request) => until(" friend", request), signs[sign]),
      );
      const response = await post(gateway, surface, { stream: true, model: `${surface.model}-brief` });
      const frames = await dataOf(response);
      const { message } = ERRORS.upstream_total_timeout_charged;
      expect(frames.at(-1)).toMatchObject({ error: { message } });
      await gateway.upstream.seen[0]?.over;
      await gateway.nothingIsHeld();
    },
  );
});

describe.each(SURFACES)("an upstream whose small answer is costly to process, on $path,", (surface) => {
  test.each([false, true])(
    "is cut off when its compressed bytes expand without end (streamed: %p)",
    async (stream) => {
      const body = gzipSync(Buffer.alloc(200 * MIB, " "));
      const headers = { "content-encoding": "gzip", ...(stream && EVENT_STREAM) };
      gateway.upstream.on(surface.model, answer({ body, headers, framing: "length" }));
      await expectError(
        await post(gateway, surface, { stream }),
        surface,
        stream ? "upstream_unavailable" : "answer_too_large",
      );
      await gateway.upstream.seen[0]?.over;
    },
  );

  test("is rejected when its JSON nests too deep", async () => {
    const brackets = `"x":${"[".repeat(2_000_000)}${"]".repeat(2_000_000)}`;
    gateway.upstream.on(surface.model, (request) => {
      const [first = "", ...others] = streamedLines(request, HELLO);
      const lines = [first.replace("{", `{${brackets},`), ...others];
      return answer({ headers: EVENT_STREAM, body: frame(request.protocol, lines) })(request);
    });
    await expectError(await post(gateway, surface, { stream: true }), surface, "upstream_unavailable");
  });
});

describe("an upstream that fails one choice", () => {
  const error = { message: secrets.next("choice"), code: 502 };

  test("reveals nothing to the client of a stream", async () => {
    gateway.upstream.on(CHAT.model, (request) => {
      const chunk = { choices: [{ index: 0, delta: { content: "" }, finish_reason: null, error }] };
      const body = `${until(" friend", request)}data: ${JSON.stringify(chunk)}\n\n`;
      return answer({ headers: EVENT_STREAM, body })(request);
    });
    const text = await (await post(gateway, CHAT, { stream: true })).text();
    expect(text).toContain("upstream_unavailable");
    secrets.expectNone(text);
  });

  test("reveals nothing to the client of a whole answer", async () => {
    const message = { role: "assistant", content: "" };
    const body = JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop", error }] });
    gateway.upstream.on(CHAT.model, answer({ body }));
    await expectError(await post(gateway, CHAT), CHAT, "upstream_unavailable");
  });
});

describe("an upstream that sends tool calls without end", () => {
  test("is cut off, and the received calls are charged", async () => {
    let index = 0;
    const call = () =>
      `data: {"choices":[{"delta":{"tool_calls":[{"index":${index++},"function":{"name":"f"}}]}}]}\n\n`;
    gateway.upstream.on(CHAT.model, function* () {
      yield { send: HEAD };
      for (;;) yield { send: Array.from({ length: 500 }, call).join("") };
    });
    const response = await post(gateway, CHAT, { stream: true });
    expect(await response.text()).toContain("upstream_unavailable");
    expect((await gateway.receiptOf(response)).outcome).toMatchObject({ source: "estimated" });
    // How much the socket took before that depends on the machine.
    await gateway.upstream.seen[0]?.over;
    expect(gateway.upstream.seen[0]?.disconnectedAtMs).toBeNumber();
  });
});

describe("usage in the first event of a stream only", () => {
  test("is not what the answer is charged by", async () => {
    gateway.upstream.on(MESSAGES.model, (request) => {
      const lines = streamedLines(request, HELLO).map((line) => {
        const { usage: _, ...rest } = JSON.parse(line);
        return JSON.stringify(rest);
      });
      return answer({ headers: EVENT_STREAM, body: frame("anthropic", lines) })(request);
    });
    const response = await post(gateway, MESSAGES, { stream: true });
    expect(await response.text()).toMatch(MARK.messages);
    const { outcome } = await gateway.receiptOf(response);
    expect(outcome).toMatchObject({ outcome: "ok", source: "estimated" });
    expect(outcome?.usage?.outputTokens).toBeGreaterThan(2);
  });
});

describe.each(SURFACES)("text that is not valid Unicode, on $path,", (surface) => {
  test.each([
    ["half a surrogate pair", "\\ud83d"],
    ["a NUL", "\\u0000"],
    ["a __proto__ member", '","__proto__":{"x":1},"constructor":"'],
  ])("such as %s is forwarded and counted", async (_name, inside) => {
    gateway.upstream.on(surface.model, async function* (request) {
      for await (const step of answerWith(
        { text: "Hello there friend." },
        { framing: "until_close" },
      )(request)) {
        yield "send" in step ? { send: String(step.send).replace("there", `there${inside}`) } : step;
      }
    });
    const response = await post(gateway, surface, { stream: true });
    const text = await response.text();
    expect(text).toContain(inside);
    expect(text).toMatch(MARK[surface.name]);
    expect((await gateway.receiptOf(response)).outcome).toMatchObject({ outcome: "ok", source: "estimated" });
  });

  test("such as invalid UTF-8 is forwarded as the replacement character", async () => {
    gateway.upstream.on(surface.model, (request) => {
      const text = HEAD + frame(request.protocol, streamedLines(request, HELLO));
      const bytes = Buffer.from(text);
      bytes[bytes.indexOf("there")] = 0xff;
      return [{ send: bytes }, { leave: "close" }];
    });
    expect(await (await post(gateway, surface, { stream: true })).text()).toContain("\ufffdhere");
  });
});
