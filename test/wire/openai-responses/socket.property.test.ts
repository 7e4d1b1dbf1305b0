import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/errors.ts";
import { type ClientEvent, readClientEvent } from "../../../src/wire/openai-responses/socket/client-event.ts";
import { createBody, encodeItems } from "../../../src/wire/openai-responses/socket/create-body.ts";
import { printFrame, splitEvents } from "../../../src/wire/openai-responses/socket/server-frames.ts";
import { printSse } from "../../../src/wire/sse.ts";
import { mutateBytes, mutateJsonText } from "../../fuzz/cases/mutate-text.ts";
import { createDraw, drawOne, type RandomSource } from "../../support/seeded-random.ts";

const CASES = 2_000;
const INPUTS = [
  "Hi.",
  'A "quoted" \\ text\nwith a ] and a }',
  [],
  [{ role: "user", content: "One, [two]" }],
  [{ type: "message", role: "user", content: "{" }, { type: "compaction_trigger" }],
];
const EARLIER = [[], [{ role: "user", content: "Before ]," }], [{ a: 1 }, { b: [2, "}"] }]];

function drawFrame(draw: RandomSource): Record<string, unknown> {
  const members: [string, unknown][] = [
    ["type", "response.create"],
    ["model", "m"],
    ["input", drawOne(draw, INPUTS)],
    ["tools", [{ type: "function", name: "input" }]],
  ];
  if (draw() < 0.5) members.push(["stream_id", "queue-1"]);
  if (draw() < 0.5) members.push(["previous_response_id", drawOne(draw, ["resp_1", null])]);
  if (draw() < 0.3) members.push(["stream", drawOne(draw, [true, false])]);
  if (draw() < 0.3) members.push(["generate", true]);
  return Object.fromEntries(members.sort(() => draw() - 0.5));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads an event; `undefined` for a text that is refused with an error of the table. */
function read(text: string): ClientEvent | undefined {
  try {
    return readClientEvent(text);
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    return undefined;
  }
}

describe("the body of a response.create", () => {
  test("has the members of the event, with earlier items before its input", () => {
    const draw = createDraw("socket bodies");
    for (let count = 0; count < CASES; count += 1) {
      const frame = drawFrame(draw);
      const earlier = drawOne(draw, EARLIER);
      const event = read(JSON.stringify(frame));
      if (event?.kind !== "create") throw new Error("The event was refused");
      const { bytes } = createBody(event, encodeItems(earlier.map((item) => JSON.stringify(item))));
      const { type: _, stream_id: __, previous_response_id: ___, generate: ____, ...body } = frame;
      const { input } = frame;
      const own = Array.isArray(input) ? input : [{ type: "message", role: "user", content: input }];
      const whole = earlier.length > 0 ? [...earlier, ...own] : input;
      expect(JSON.parse(Buffer.from(bytes).toString())).toEqual({ ...body, input: whole, stream: true });
    }
  });

  test("is no JSON where the event is none, and no event throws anything but an error of the table", () => {
    const draw = createDraw("socket mutations");
    for (let count = 0; count < CASES; count += 1) {
      const { type: _, stream_id: __, previous_response_id: ___, generate: ____, ...body } = drawFrame(draw);
      const text = JSON.stringify(body);
      const rest =
        draw() < 0.5 ? mutateJsonText(draw, text) : mutateBytes(draw, Buffer.from(text)).toString();
      // A fault in a member that is removed goes with it.
      const mutated = rest.replace("{", '{"type":"response.create",');
      const event = read(mutated);
      if (event?.kind !== "create") continue;
      const earlier = encodeItems(drawOne(draw, EARLIER).map((item) => JSON.stringify(item)));
      const created = Buffer.from(createBody(event, earlier).bytes).toString();
      if (parse(mutated) === undefined) expect([mutated, parse(created)]).toEqual([mutated, undefined]);
    }
  });
});

describe("a frame", () => {
  test("has the data of its event, also over several lines, and our members last", () => {
    const data = '{"type":"a",\n\n"text":"x\\ny",\n"stream_id":"theirs"}';
    const [event, other] = splitEvents(
      `: ping\n\n${printSse({ event: "a", data })}${printSse({ data: "{}" })}`,
    );
    expect(event).toEqual({ type: "a", data });
    expect(other).toEqual({ type: "", data: "{}" });
    const printed = printFrame(data, { stream_id: "ours", headers: undefined });
    expect(JSON.parse(printed)).toEqual({ type: "a", text: "x\ny", stream_id: "ours" });
    expect(printFrame(data, {})).toBe(data);
  });
});
