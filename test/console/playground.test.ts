import { describe, expect, test } from "bun:test";
import { priceEach } from "../../src/console/pages/models/same-tokens.ts";
import {
  addEvent,
  createEventReader,
  NEW_ANSWER,
  releasedOf,
} from "../../src/console/pages/playground/answer.ts";

describe("reading server-sent events", () => {
  const stream = 'event: start\ndata: {"a":1}\n\n:\n\nevent: delta\ndata: {"text":"ä\\n\\nb"}\n\n';

  test("events are the same however the stream is cut", () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      const read = createEventReader();
      const events = [...read(stream.slice(0, cut)), ...read(stream.slice(cut))];
      expect(events.map(({ event }) => event)).toEqual(["start", "delta"]);
      expect(JSON.parse(events[1]?.data ?? "").text).toBe("ä\n\nb");
    }
  });

  test("an event without its end is not reported", () =>
    expect(createEventReader()('event: delta\ndata: {"text":"a"}\n')).toEqual([]));
});

describe("an answer of the playground", () => {
  const started = addEvent(NEW_ANSWER, eventOf("start", { request_id: "r", granted_usd: "0.01" }));

  test("nothing is released before the charge is final", () => {
    const running = addEvent(started, eventOf("cost", { spent_usd: "0.004", output_tokens: 3 }));
    expect(running).toMatchObject({ state: "streaming", granted: 10_000_000n, spent: 4_000_000n });
    expect(releasedOf(running)).toBeUndefined();
  });

  test("the receipt says what is released", () => {
    const receipt = { charged_usd: "0.003", output_tokens: 4 };
    const ended = addEvent(started, eventOf("end", { receipt }));
    expect(ended).toMatchObject({ state: "done", outputTokens: 4 });
    expect(releasedOf(ended)).toBe(7_000_000n);
  });

  test("a failure after the hold keeps the text and its charge", () => {
    const some = addEvent(started, eventOf("delta", { text: "half" }));
    const error = { message: "The upstream failed." };
    const failed = addEvent(some, eventOf("error", { error, receipt: null }));
    expect(failed).toMatchObject({ state: "failed", text: "half", error: error.message });
    expect(releasedOf(failed)).toBeUndefined();
  });

  test("a call of a tool comes piece by piece, and a wrong index is left out", () => {
    const piece = (data: object) => eventOf("tool_call", data);
    const begun = addEvent(started, piece({ index: 0, id: "t", name: "f", arguments: '{"a"' }));
    const ended = addEvent(
      addEvent(begun, piece({ index: 0, id: "", arguments: ":1}" })),
      piece({ index: 9 }),
    );
    expect(ended.calls).toEqual([{ id: "t", name: "f", arguments: '{"a":1}' }]);
  });

  test("an unknown event changes nothing but the raw list", () => {
    const { events, ...rest } = addEvent(started, eventOf("later", {}));
    expect(events).toHaveLength(2);
    expect(rest).toMatchObject({ state: "streaming", text: "" });
  });
});

test("the same tokens cost the least where they are listed first, rounded up once", () => {
  const model = (id: string, input: string, output: string, max = 1) => ({
    ...{ id, max_output_tokens: max, price: { input, output } },
  });
  const models = [
    model("dear", "3.00", "15.00"),
    model("cheap", "0.10", "0.40"),
    model("embed", "1", "0", 0),
  ];
  expect(priceEach(models, { input: 1, output: 1 })).toEqual([
    { id: "cheap", cost: 500n },
    { id: "dear", cost: 18_000n },
  ]);
});

function eventOf(event: string, data: object) {
  return { event, data: JSON.stringify(data) };
}
