import { describe, expect, test } from "bun:test";
import { dataOf } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { postTo as put, readReply } from "../support/format-pairs/format-pair.ts";
import { nanosOf } from "../support/format-pairs/neutral-answer.ts";
import { answer } from "../support/script.ts";
import { EVENT_STREAM } from "../support/scripted-answers.ts";
import { framesOf, objectAt } from "../support/strict-json.ts";
import { startFixture, USAGE } from "./conformance/fixture.ts";
import { TO_CLAUDE, TO_GPT } from "./conformance/requests.ts";
import {
  chunk,
  chunkHead,
  messageEnd,
  messageStart,
  textEvents,
  usageOf,
} from "./conformance/stream-events.ts";

const fixture = startFixture();
const { play, playWhole, postTo, expectAnswer, expectFailure } = fixture;

describe("case 28: a finish reason is one of four, whatever word the upstream uses:", () => {
  test.each([
    ["stop", "stop"],
    ["STOP", "stop"],
    ["eos", "stop"],
    ["end_turn", "stop"],
    ["length", "length"],
    ["max_tokens", "length"],
    ["content_filter", "content_filter"],
    ["SAFETY", "content_filter"],
    ["tool_calls", "stop"],
    ["function_call", "stop"],
  ] as const)("%s of OpenAI becomes %s for a messages client", async (word, finish) => {
    const lines = [chunk({ content: "Hello." }), { ...chunk({}, word), ...usageOf(11, 7) }];
    await expectAnswer(TO_GPT, lines, { text: "Hello.", finish });
  });

  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
    ["a_word_of_tomorrow", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content_filter"],
    ["tool_use", "stop"],
  ] as const)("%s of Anthropic becomes %s for a chat client", async (word, finish) => {
    await expectAnswer(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hello."), ...messageEnd(word)], {
      text: "Hello.",
      finish,
    });
  });

  test.each(["error", "a_word_of_tomorrow"])("%s of OpenAI is an upstream failure", async (word) => {
    await expectFailure(TO_GPT, [chunk({ content: "Hello." }), chunk({}, word)]);
  });

  test.each(["error", 7])("%p of Anthropic is an upstream failure", async (word) => {
    await expectFailure(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hello."), ...messageEnd(word)]);
  });

  test("a stop sequence of Anthropic becomes stop for a chat client", async () => {
    const delta = { stop_reason: "stop_sequence", stop_sequence: "END" };
    const lines = [
      messageStart(),
      ...textEvents(0, "Hello."),
      { type: "message_delta", delta, usage: { output_tokens: 7 } },
    ];
    await expectAnswer(TO_CLAUDE, [...lines, { type: "message_stop" }], {
      text: "Hello.",
      finish: "stop",
    });
  });
});

describe("case 29: a stream without a finish reason is a failure", () => {
  test("from OpenAI", () => expectFailure(TO_GPT, [chunk({ content: "Hello." }), chunk({}, null)]));
  test("from Anthropic", () =>
    expectFailure(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hello."), { type: "message_stop" }]));
  test("from Anthropic in the middle of a block", () =>
    expectFailure(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hello.").slice(0, 2)]));
});

describe("case 34: usage is reported once and billed by its last value when it comes", () => {
  const finish = chunk({}, "stop");
  test.each([
    ["with the finish", [chunk({ content: "Hi." }), { ...finish, ...usageOf(11, 7) }]],
    [
      "after the finish",
      [chunk({ content: "Hi." }), finish, { ...chunkHead, choices: [], ...usageOf(11, 7) }],
    ],
    [
      "with every chunk",
      [
        { ...chunk({ content: "Hi." }), ...usageOf(11, 1) },
        { ...finish, ...usageOf(11, 7) },
      ],
    ],
    [
      "twice",
      [
        chunk({ content: "Hi." }),
        { ...finish, ...usageOf(11, 5) },
        { ...chunkHead, choices: [], ...usageOf(11, 7) },
      ],
    ],
  ])("%s", (_name, lines) => expectAnswer(TO_GPT, lines, { text: "Hi.", finish: "stop" }));

  test("in the first, a middle and the last event of Anthropic", async () => {
    const between = { type: "message_delta", delta: {}, usage: { output_tokens: 3 } };
    await expectAnswer(
      TO_CLAUDE,
      [messageStart(), ...textEvents(0, "Hi."), between, ...messageEnd("end_turn")],
      {
        text: "Hi.",
        finish: "stop",
      },
    );
  });
});

describe("case 36, case 49: an error in the middle of a stream has the client's own envelope:", () => {
  const error = { type: "overloaded_error", message: "busy" };

  test("an OpenAI error reaches a messages client as an error event", async () => {
    play(TO_GPT, [chunk({ content: "Hello." }), { error }]);
    const last = framesOf(await (await postTo(TO_GPT)).text()).at(-1);
    expect(last).toMatchObject({
      event: "error",
      json: { type: "error", error: { type: "api_error", details: { error_code: "upstream_unavailable" } } },
    });
  });

  test("an Anthropic error reaches a chat client as an error chunk", async () => {
    play(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hello."), { type: "error", error }]);
    const last = framesOf(await (await postTo(TO_CLAUDE)).text()).at(-1);
    expect(last).toMatchObject({ json: { error: { type: "server_error", code: "upstream_unavailable" } } });
  });
});

describe("case 37: a failure before the first output has an HTTP error status:", () => {
  test.each([
    ["an error first", TO_GPT, [{ error: { message: "busy" } }]],
    [
      "an error after the start",
      TO_CLAUDE,
      [messageStart(), { type: "error", error: { type: "api_error" } }],
    ],
    ["an error after a role", TO_GPT, [chunk({ role: "assistant", content: "" }), { error: {} }]],
  ] as const)("the stream has %s", async (_name, pair, lines) => {
    play(pair, lines);
    await expectError(await postTo(pair), pair.surface, "upstream_unavailable");
  });
});

test("case 39: a stream with CRLF, comments, ids, a byte order mark and multi-line data is decoded", async () => {
  const lines = [chunk({ content: "Grüße 😀" }), { ...chunk({}, "stop"), ...usageOf(11, 7) }];
  const body = lines.map(
    (line) => `id: 1\r\ndata:${JSON.stringify(line).replace('"choices"', '\r\ndata: "choices"')}\r\n\r\n`,
  );
  const bytes = `\uFEFF: hello\r\n\r\n${body.join(": ping\r\n\r\n")}data: [DONE]\r\n\r\n`;
  fixture.gateway().upstream.on(TO_GPT.model, answer({ headers: EVENT_STREAM, body: bytes, pieces: [7] }));
  expect(await readReply(await postTo(TO_GPT), TO_GPT)).toMatchObject({ text: "Grüße 😀", finish: "stop" });
});

test("case 43, case 44: every event has its name, and message_start has a full usage and no content", async () => {
  play(TO_GPT, [chunk({ content: "Hi." }), chunk({}, "stop")]);
  const [start, ...rest] = framesOf(await (await postTo(TO_GPT)).text());
  expect(start).toMatchObject({
    event: "message_start",
    json: {
      message: {
        content: [],
        usage: {
          input_tokens: expect.any(Number),
          output_tokens: 0,
          cache_read_input_tokens: 0,
          cache_creation_input_tokens: 0,
        },
      },
    },
  });
  for (const { event, json } of rest) expect(json).toMatchObject({ type: event });
});

test("case 41: a stream is an event stream without compression, also when the client accepts JSON and gzip", async () => {
  play(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hi."), ...messageEnd("end_turn")]);
  const headers = { accept: "application/json", "accept-encoding": "gzip" };
  const response = await put(fixture.gateway(), TO_CLAUDE, { stream: true, headers });
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  expect(response.headers.get("content-encoding")).toBeNull();
  expect((await readReply(response, TO_CLAUDE)).text).toBe("Hi.");
});

test("case 47: message_start reports an input estimate and no output, and message_delta reports both", async () => {
  play(TO_GPT, [chunk({ content: "Hi." }), { ...chunk({}, "stop"), ...usageOf(4_321, 7) }]);
  const events = await dataOf(await postTo(TO_GPT));
  const start = objectAt(objectAt(events[0]?.message, "a message").usage, "a usage");
  expect(start).toMatchObject({
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  });
  expect(start.input_tokens).toBeWithin(1, 1_000);
  expect(events.at(-2)).toMatchObject({ usage: { input_tokens: 4_321, output_tokens: 7 } });
});

test("case 48: an Anthropic stream without message_stop is complete after its stop reason", async () => {
  play(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hi."), ...messageEnd("end_turn").slice(0, 1)]);
  expect(await readReply(await postTo(TO_CLAUDE), TO_CLAUDE)).toMatchObject({ text: "Hi.", finish: "stop" });
});

test("case 50: a client that repeats a failed stream as a whole request is answered and billed", async () => {
  const lines = [chunk({ content: "Hi." }), { ...chunk({}, "stop"), ...usageOf(11, 7) }];
  play(TO_GPT, lines.slice(0, 1));
  expect(await (await postTo(TO_GPT)).text()).toContain("event: error");
  playWhole(TO_GPT, lines);
  const again = await postTo(TO_GPT, false);
  expect(await readReply(again, TO_GPT)).toMatchObject({ text: "Hi." });
  expect((await fixture.gateway().receiptOf(again)).captured).toBe(nanosOf(USAGE));
});

describe("case 68: the model name is that of the request", () => {
  test.each([TO_GPT, TO_CLAUDE])(
    "for a client of $surface.name, also when the upstream changes its model name",
    async (pair) => {
      const lines =
        pair === TO_GPT
          ? [chunk({ content: "Hi." }), { ...chunk({ content: "!" }), model: "another" }, chunk({}, "stop")]
          : [messageStart({ model: "another" }), ...textEvents(0, "Hi."), ...messageEnd("end_turn")];
      play(pair, lines);
      const bytes = await (await postTo(pair)).text();
      expect(new Set(bytes.match(/"model":"[^"]*"/g))).toEqual(new Set([`"model":"${pair.model}"`]));
    },
  );
});
