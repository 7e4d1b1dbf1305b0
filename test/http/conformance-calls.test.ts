import { describe, expect, test } from "bun:test";
import { readReply } from "../support/format-pairs/format-pair.ts";
import { startFixture } from "./conformance/fixture.ts";
import { TO_CLAUDE, TO_GPT } from "./conformance/requests.ts";
import {
  blockEvents,
  chunk,
  messageEnd,
  messageStart,
  textEvents,
  toolUseEvents,
  usageOf,
} from "./conformance/stream-events.ts";

const { play, playWhole, postTo, expectAnswer, expectFailure } = startFixture();

describe("case 30: tool calls are numbered from 0 and named once", () => {
  test("after a thinking block and a text block of Anthropic", async () => {
    const thought = blockEvents(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "Hm." },
    );
    const lines = [
      messageStart(),
      ...thought,
      ...textEvents(1, "So:"),
      ...toolUseEvents(2, "a", '{"n"', ":1}"),
      ...toolUseEvents(3, "b"),
    ];
    await expectAnswer(TO_CLAUDE, [...lines, ...messageEnd("tool_use")], {
      reasoning: "Hm.",
      text: "So:",
      calls: [
        { id: "a", name: "look_up", input: { n: 1 } },
        { id: "b", name: "look_up", input: {} },
      ],
      finish: "tool_calls",
    });
  });

  test("when the input comes with the start of the block", async () => {
    const whole = blockEvents(0, { type: "tool_use", id: "a", name: "look_up", input: { n: 1 } });
    await expectAnswer(TO_CLAUDE, [messageStart(), ...whole, ...messageEnd("tool_use")], {
      calls: [{ id: "a", name: "look_up", input: { n: 1 } }],
      finish: "tool_calls",
    });
  });

  test("when Anthropic has called a server tool before", async () => {
    const search = blockEvents(
      0,
      { type: "server_tool_use", id: "s", name: "web_search", input: {} },
      { type: "input_json_delta", partial_json: '{"query":"x"}' },
    );
    const found = blockEvents(1, { type: "web_search_tool_result", tool_use_id: "s", content: [] });
    const lines = [
      messageStart(),
      ...search,
      ...found,
      ...textEvents(2, "Found."),
      ...toolUseEvents(3, "a", "{}"),
      ...messageEnd("tool_use"),
    ];
    await expectAnswer(TO_CLAUDE, lines, {
      text: "Found.",
      calls: [{ id: "a", name: "look_up", input: {} }],
      finish: "tool_calls",
    });
  });
});

describe("case 31: tool calls of OpenAI-compatible hosts are merged when they come", () => {
  const calls = [
    { id: "a", name: "look_up", input: { n: 1 } },
    { id: "b", name: "look_up", input: { n: 2 } },
  ];
  const whole = (id: string, n: number, more: object = {}) => ({
    id,
    type: "function",
    function: { name: "look_up", arguments: `{"n":${n}}` },
    ...more,
  });

  test.each([
    ["whole, without an index", [[whole("a", 1)], [whole("b", 2)]]],
    ["whole, all with index 0", [[whole("a", 1, { index: 0 })], [whole("b", 2, { index: 0 })]]],
    ["both in one chunk", [[whole("a", 1, { index: 0 }), whole("b", 2, { index: 1 })]]],
    [
      "without a type",
      [[whole("a", 1, { index: 0, type: undefined })], [whole("b", 2, { index: 1, type: undefined })]],
    ],
    ["numbered from 1", [[whole("a", 1, { index: 1 })], [whole("b", 2, { index: 2 })]]],
  ])("%s", async (_name, deltas) => {
    const lines = [
      ...deltas.map((tool_calls) => chunk({ tool_calls })),
      { ...chunk({}, "tool_calls"), ...usageOf(11, 7) },
    ];
    await expectAnswer(TO_GPT, lines, { calls, finish: "tool_calls" });
  });

  test("without an id: the gateway assigns one", async () => {
    const call = { index: 0, function: { name: "look_up", arguments: '{"n":1}' } };
    play(TO_GPT, [chunk({ tool_calls: [call] }), chunk({}, "tool_calls")]);
    const received = await readReply(await postTo(TO_GPT), TO_GPT);
    expect(received.calls).toEqual([
      { id: expect.stringMatching(/^\w+$/), name: "look_up", input: { n: 1 } },
    ]);
  });

  test("as the deprecated function_call", async () => {
    const lines = [
      chunk({ function_call: { name: "look_up", arguments: "" } }),
      chunk({ function_call: { arguments: '{"n":1}' } }),
      chunk({}, "function_call"),
    ];
    play(TO_GPT, lines);
    const received = await readReply(await postTo(TO_GPT), TO_GPT);
    expect(received).toMatchObject({ calls: [{ name: "look_up", input: { n: 1 } }], finish: "tool_calls" });
  });
});

test("case 32: a finish of stop after tool calls becomes tool_calls", async () => {
  const call = { index: 0, id: "a", type: "function", function: { name: "look_up", arguments: "{}" } };
  const calls = [{ id: "a", name: "look_up", input: {} }];
  await expectAnswer(TO_GPT, [chunk({ tool_calls: [call] }), { ...chunk({}, "stop"), ...usageOf(11, 7) }], {
    calls,
    finish: "tool_calls",
  });
  await expectAnswer(TO_CLAUDE, [messageStart(), ...toolUseEvents(0, "a", "{}"), ...messageEnd("end_turn")], {
    calls,
    finish: "tool_calls",
  });
});

describe("case 45: messages blocks do not overlap", () => {
  test("when text comes between the fragments of two calls", async () => {
    const call = (index: number, id: string) => ({
      index,
      id,
      type: "function",
      function: { name: "look_up", arguments: "" },
    });
    const piece = (index: number, json: string) => ({ index, function: { arguments: json } });
    play(TO_GPT, [
      chunk({ content: "One. " }),
      chunk({ tool_calls: [call(0, "a")] }),
      chunk({ tool_calls: [piece(0, '{"n":')] }),
      chunk({ tool_calls: [call(1, "b")] }),
      chunk({ tool_calls: [piece(1, '{"n":2')] }),
      chunk({ content: "Two." }),
      chunk({ tool_calls: [piece(0, "1}")] }),
      chunk({ tool_calls: [piece(1, "}")] }),
      chunk({}, "tool_calls"),
    ]);
    const received = await readReply(await postTo(TO_GPT), TO_GPT);
    expect(received.text).toBe("One. Two.");
    expect(received.calls.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
      { id: "a", name: "look_up", input: { n: 1 } },
      { id: "b", name: "look_up", input: { n: 2 } },
    ]);
  });

  test.each(['{"n":', "[1]", "7", "no"])(
    "and a call with the input %s is an upstream failure",
    async (json) => {
      const call = { index: 0, id: "a", type: "function", function: { name: "look_up", arguments: json } };
      await expectFailure(TO_GPT, [chunk({ tool_calls: [call] }), chunk({}, "tool_calls")]);
    },
  );

  test("and a call that the token limit cut off is left out", async () => {
    const call = { index: 0, id: "a", type: "function", function: { name: "look_up", arguments: '{"n":' } };
    const lines = [
      chunk({ content: "Hm." }),
      chunk({ tool_calls: [call] }),
      { ...chunk({}, "length"), ...usageOf(11, 7) },
    ];
    play(TO_GPT, lines);
    const streamed = await (await postTo(TO_GPT)).text();
    expect(streamed).toContain('"stop_reason":"max_tokens"');
    playWhole(TO_GPT, lines);
    const whole = await readReply(await postTo(TO_GPT, false), TO_GPT);
    expect(whole).toMatchObject({ text: "Hm.", calls: [], finish: "length" });
  });
});
