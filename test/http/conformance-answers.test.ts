import { describe, expect, test } from "bun:test";
import { dataOf } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { nanosOf } from "../support/protocol-pairs/neutral-answer.ts";
import { postTo as put, readReply } from "../support/protocol-pairs/protocol-pair.ts";
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

// A charge that nobody reported is counted, which takes its time on a busy machine.

const stage = startFixture();
const { play, playWhole, postTo, expectHeard, expectBroken } = stage;

describe("case 28: one finish of the four, whatever word the upstream has for it:", () => {
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
  ] as const)("%s of OpenAI is %s to a messages client", async (word, finish) => {
    const lines = [chunk({ content: "Hello." }), { ...chunk({}, word), ...usageOf(11, 7) }];
    await expectHeard(TO_GPT, lines, { text: "Hello.", finish });
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
  ] as const)("%s of Anthropic is %s to a chat client", async (word, finish) => {
    await expectHeard(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hello."), ...messageEnd(word)], {
      text: "Hello.",
      finish,
    });
  });

  test.each(["error", "a_word_of_tomorrow"])("%s of OpenAI is a failure", async (word) => {
    await expectBroken(TO_GPT, [chunk({ content: "Hello." }), chunk({}, word)]);
  });

  test.each(["error", 7])("%p of Anthropic is a failure", async (word) => {
    await expectBroken(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hello."), ...messageEnd(word)]);
  });

  test("the stop sequence that ended it is told where the upstream tells it", async () => {
    const delta = { stop_reason: "stop_sequence", stop_sequence: "END" };
    const lines = [
      messageStart(),
      ...textEvents(0, "Hello."),
      { type: "message_delta", delta, usage: { output_tokens: 7 } },
    ];
    await expectHeard(TO_CLAUDE, [...lines, { type: "message_stop" }], {
      text: "Hello.",
      finish: "stop",
    });
  });
});

describe("case 29: an end without a finish is a failure:", () => {
  test("of OpenAI", () => expectBroken(TO_GPT, [chunk({ content: "Hello." }), chunk({}, null)]));
  test("of Anthropic", () =>
    expectBroken(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hello."), { type: "message_stop" }]));
  test("of Anthropic, within a block", () =>
    expectBroken(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hello.").slice(0, 2)]));
});

describe("case 34: usage is told once and billed by its last word, though it comes", () => {
  const finish = chunk({}, "stop");
  test.each([
    ["with the finish", [chunk({ content: "Hi." }), { ...finish, ...usageOf(11, 7) }]],
    ["behind it", [chunk({ content: "Hi." }), finish, { ...chunkHead, choices: [], ...usageOf(11, 7) }]],
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
  ])("%s", (_name, lines) => expectHeard(TO_GPT, lines, { text: "Hi.", finish: "stop" }));

  test("at both ends of Anthropic's, and in between", async () => {
    const between = { type: "message_delta", delta: {}, usage: { output_tokens: 3 } };
    await expectHeard(
      TO_CLAUDE,
      [messageStart(), ...textEvents(0, "Hi."), between, ...messageEnd("end_turn")],
      {
        text: "Hi.",
        finish: "stop",
      },
    );
  });
});

describe("case 36, case 49: an error in the middle is one in the client's own words:", () => {
  const error = { type: "overloaded_error", message: "busy" };

  test("of OpenAI to a messages client", async () => {
    play(TO_GPT, [chunk({ content: "Hello." }), { error }]);
    const last = framesOf(await (await postTo(TO_GPT)).text()).at(-1);
    expect(last).toMatchObject({
      event: "error",
      json: { type: "error", error: { type: "api_error", details: { error_code: "upstream_unavailable" } } },
    });
  });

  test("of Anthropic to a chat client", async () => {
    play(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hello."), { type: "error", error }]);
    const last = framesOf(await (await postTo(TO_CLAUDE)).text()).at(-1);
    expect(last).toMatchObject({ json: { error: { type: "server_error", code: "upstream_unavailable" } } });
  });
});

describe("case 37: a failure before the first word has a status of its own:", () => {
  test.each([
    ["an error first", TO_GPT, [{ error: { message: "busy" } }]],
    [
      "an error behind the start",
      TO_CLAUDE,
      [messageStart(), { type: "error", error: { type: "api_error" } }],
    ],
    ["an error behind a role", TO_GPT, [chunk({ role: "assistant", content: "" }), { error: {} }]],
  ] as const)("%s", async (_name, pair, lines) => {
    play(pair, lines);
    await expectError(await postTo(pair), pair.surface, "upstream_unavailable");
  });
});

test("case 39: carriage returns, comments, ids, a mark of bytes and data in several lines are read", async () => {
  const lines = [chunk({ content: "Grüße 😀" }), { ...chunk({}, "stop"), ...usageOf(11, 7) }];
  const body = lines.map(
    (line) => `id: 1\r\ndata:${JSON.stringify(line).replace('"choices"', '\r\ndata: "choices"')}\r\n\r\n`,
  );
  const bytes = `\uFEFF: hello\r\n\r\n${body.join(": ping\r\n\r\n")}data: [DONE]\r\n\r\n`;
  stage.gateway().upstream.on(TO_GPT.model, answer({ headers: EVENT_STREAM, body: bytes, pieces: [7] }));
  expect(await readReply(await postTo(TO_GPT), TO_GPT)).toMatchObject({ text: "Grüße 😀", finish: "stop" });
});

test("case 43, case 44: every event has its name, and the start a whole usage and no content", async () => {
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

test("case 41: a stream is one though the client accepts JSON, and is not packed", async () => {
  play(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hi."), ...messageEnd("end_turn")]);
  const headers = { accept: "application/json", "accept-encoding": "gzip" };
  const response = await put(stage.gateway(), TO_CLAUDE, { stream: true, headers });
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  expect(response.headers.get("content-encoding")).toBeNull();
  expect((await readReply(response, TO_CLAUDE)).text).toBe("Hi.");
});

test("case 47: a start tells a guess of the input and no output, and the end tells both", async () => {
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

test("case 48: an end of Anthropic without its last event is one all the same", async () => {
  play(TO_CLAUDE, [messageStart(), ...textEvents(0, "Hi."), ...messageEnd("end_turn").slice(0, 1)]);
  expect(await readReply(await postTo(TO_CLAUDE), TO_CLAUDE)).toMatchObject({ text: "Hi.", finish: "stop" });
});

test("case 50: what a client asks again, without a stream, is answered and billed as well", async () => {
  const lines = [chunk({ content: "Hi." }), { ...chunk({}, "stop"), ...usageOf(11, 7) }];
  play(TO_GPT, lines.slice(0, 1));
  expect(await (await postTo(TO_GPT)).text()).toContain("event: error");
  playWhole(TO_GPT, lines);
  const again = await postTo(TO_GPT, false);
  expect(await readReply(again, TO_GPT)).toMatchObject({ text: "Hi." });
  expect((await stage.gateway().receiptOf(again)).captured).toBe(nanosOf(USAGE));
});

describe("case 68: the name of the model is that of the request", () => {
  test.each([TO_GPT, TO_CLAUDE])(
    "to a client of $surface.name, though the upstream changes its mind",
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
