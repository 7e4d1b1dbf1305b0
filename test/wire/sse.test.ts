import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createSseDecoder, printSse, type SseEvent } from "../../src/wire/sse.ts";
import { UpstreamFault } from "../../src/wire/upstream-fault.ts";
import { cpuMs } from "../support/cpu-time.ts";

const encoder = new TextEncoder();

function decode(chunks: readonly Uint8Array[]): SseEvent[] {
  const decoder = createSseDecoder();
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()];
}

function decodeText(text: string): SseEvent[] {
  return decode([encoder.encode(text)]);
}

/** Cuts bytes at the given positions, taken modulo their length. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [
    0,
    ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ];
  return sorted.slice(1).map((end, at) => bytes.subarray(sorted[at], end));
}

const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const line = fc.oneof(
  fc.string({ unit: "grapheme" }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
  fc.string({ unit: "grapheme" }).map((text) => `data:${text.replaceAll(/[\r\n]/g, "")}`),
  fc.constantFrom(
    "",
    "",
    "",
    "event: ping",
    "event:x",
    "event",
    ": comment",
    "id: 7",
    "data",
    "retry: 1",
    "\ufeff",
    "dat",
  ),
);

describe("createSseDecoder", () => {
  test("returns equal events wherever the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, lineEnd)),
        fc.array(fc.nat()),
        fc.boolean(),
        (lines, places, hasBom) => {
          const text = lines.map(([each, end]) => each + end).join("");
          const bytes = encoder.encode((hasBom ? "\ufeff" : "") + text);
          const whole = decode([bytes]);
          expect(decode(cut(bytes, places))).toEqual(whole);
          expect(decode(cut(bytes, [...bytes.keys()]))).toEqual(whole);
        },
      ),
      { numRuns: 1500 },
    );
  });

  test("decodes what printSse printed, with any line end", () => {
    const data = fc
      .string({ unit: "binary" })
      .map((text) => text.replaceAll("\r", "").replaceAll("\ufeff", ""));
    const event = fc.option(fc.stringMatching(/^[a-z_]{1,12}$/), { nil: undefined });
    fc.assert(
      fc.property(fc.array(fc.record({ event, data })), lineEnd, (events, end) => {
        const wellFormed = events.map((each) => ({ ...each, data: each.data.toWellFormed() }));
        const text = wellFormed
          .map(({ event: name, data: body }) =>
            printSse(name === undefined ? { data: body } : { event: name, data: body }),
          )
          .join("");
        expect(decodeText(text.replaceAll("\n", end))).toEqual(wellFormed);
      }),
    );
  });

  test.each<[string, string, SseEvent[]]>([
    ["a plain event", "data: {}\n\n", [{ event: undefined, data: "{}" }]],
    ["a named event", "event: ping\ndata: {}\n\n", [{ event: "ping", data: "{}" }]],
    ["a name after the data", "data: {}\nevent: ping\n\n", [{ event: "ping", data: "{}" }]],
    ["data without a space", "data:{}\n\n", [{ event: undefined, data: "{}" }]],
    [
      "data with two leading spaces, of which the second is kept",
      "data:  {}\n\n",
      [{ event: undefined, data: " {}" }],
    ],
    ["several data lines", "data: a\ndata:\ndata: b\n\n", [{ event: undefined, data: "a\n\nb" }]],
    ["CRLF", "event: x\r\ndata: a\r\n\r\n", [{ event: "x", data: "a" }]],
    ["CR", "event: x\rdata: a\r\r", [{ event: "x", data: "a" }]],
    ["a BOM", "\ufeffdata: a\n\n", [{ event: undefined, data: "a" }]],
    [
      "comments, ids and retries",
      ": hi\nid: 1\nretry: 5\ndata: a\n: in between\n\n",
      [{ event: undefined, data: "a" }],
    ],
    ["an event without data", "event: x\n\ndata: a\n\n", [{ event: undefined, data: "a" }]],
    ["many blank lines", "\n\n\ndata: a\n\n\n\n", [{ event: undefined, data: "a" }]],
    ["an unknown field", "dataset: a\ndata: b\n\n", [{ event: undefined, data: "b" }]],
    ["a colon in the data", "data: a: b\n\n", [{ event: undefined, data: "a: b" }]],
  ])("decodes %s", (_, text, events) => expect(decodeText(text)).toEqual(events));

  test("returns an event as soon as its blank line arrives, even if that ends in CR", () => {
    const decoder = createSseDecoder();
    expect(decoder.push(encoder.encode("data: a\r\n\r"))).toEqual([{ event: undefined, data: "a" }]);
    expect(decoder.push(encoder.encode("\ndata: b\r\n\r"))).toEqual([{ event: undefined, data: "b" }]);
  });

  test("returns the last event of a stream that ends without a blank line", () => {
    expect(decodeText("data: a\n\ndata: [DONE]")).toEqual([
      { event: undefined, data: "a" },
      { event: undefined, data: "[DONE]" },
    ]);
    expect(decodeText("data: [DONE]\n")).toEqual([{ event: undefined, data: "[DONE]" }]);
    expect(decodeText("event: x")).toEqual([]);
  });

  test.each([
    ["one endless line", "data: ", "x".repeat(100)],
    ["endless data lines", "", `data: ${"x".repeat(90)}\n`],
    ["an endless comment", ": ", "x".repeat(100)],
  ])("throws an UpstreamFault for %s", (_, head, more) => {
    const decoder = createSseDecoder(1000);
    const pushMany = () => {
      decoder.push(encoder.encode(head));
      for (let pushes = 0; pushes < 20; pushes += 1) decoder.push(encoder.encode(more));
    };
    expect(pushMany).toThrow(UpstreamFault);
  });

  test.each(["data: x\n", "data:\n", "data\n"])(
    "throws an UpstreamFault for 10,001 lines of %j in one event",
    (line) => {
      const lines = (count: number) => encoder.encode(line.repeat(count));
      expect(createSseDecoder().push(lines(10_000))).toEqual([]);
      expect(() => createSseDecoder().push(lines(10_001))).toThrow(UpstreamFault);
      const decoder = createSseDecoder();
      const inEvents = encoder.encode(`${line.repeat(6_000)}\n`.repeat(2));
      expect(decoder.push(inEvents)).toHaveLength(2);
    },
  );

  test("accepts any number of events below the limit", () => {
    const decoder = createSseDecoder(1000);
    expect(decoder.push(encoder.encode(`data: ${"x".repeat(900)}\n\n`.repeat(50)))).toHaveLength(50);
  });

  test("decodes a large event in small chunks in linear time", () => {
    const decoder = createSseDecoder();
    const piece = encoder.encode("x".repeat(1000));
    const ms = cpuMs(() => {
      decoder.push(encoder.encode("data: "));
      for (let pieces = 0; pieces < 8000; pieces += 1) decoder.push(piece);
      expect(decoder.push(encoder.encode("\n\n"))[0]?.data).toHaveLength(8_000_000);
    });
    expect(ms).toBeLessThan(1000);
  });
});

describe("printSse", () => {
  test("prints every line of the data as a data line", () => {
    expect(printSse({ event: "x", data: "a\nb" })).toBe("event: x\ndata: a\ndata: b\n\n");
    expect(printSse({ data: "{}" })).toBe("data: {}\n\n");
  });
});
