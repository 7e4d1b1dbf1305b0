import { describe, expect, test } from "bun:test";
import { FAST_MODEL, faultOf, requestBody, STREAM_FRAMES, WHOLE_BODY } from "./answers.ts";
import { type Answer, createResponseParser, openConnection, printRequest } from "./connection.ts";
import { medianOf, percentilesOf } from "./measurements.ts";

const WHOLE = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const CHUNKED =
  "HTTP/1.1 502 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\na;x=1\r\n, my world\r\n0\r\n\r\n";
const EMPTY = "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n";

function read(text: string, pieceLength: number): Answer[] {
  const answers: Answer[] = [];
  const parser = createResponseParser({ onFirstBody() {}, onEnd: (answer) => answers.push(answer) });
  parser.keepBody = true;
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceLength) parser.read(bytes.subarray(at, at + pieceLength));
  return answers;
}

describe("createResponseParser", () => {
  test.each([1, 2, 3, 7, 16, 1000])("parses answers in pieces of %d bytes", (pieceLength) => {
    expect(read(WHOLE + CHUNKED + EMPTY + WHOLE, pieceLength)).toEqual([
      { status: 200, body: "hello" },
      { status: 502, body: "hello, my world" },
      { status: 204, body: "" },
      { status: 200, body: "hello" },
    ]);
  });

  test("does not end an answer that is cut off", () => {
    for (let length = 1; length < CHUNKED.length; length += 1)
      expect(read(CHUNKED.slice(0, length), 1000)).toEqual([]);
  });

  test.each([
    ["a body without a length", "HTTP/1.1 200 OK\r\n\r\nhello"],
    ["a chunk without a size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nhello\r\n"],
    [
      "a chunk that is too long",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
    ],
  ])("throws on %s", (_name, text) => expect(() => read(text, 1000)).toThrow());
});

test("printRequest prints the path and the headers of a target", () => {
  const target = {
    url: "http://127.0.0.1:80",
    secret: "key",
    path: "/v2",
    headers: { "x-upstream": "here" },
  };
  const [line, ...rest] = Buffer.from(printRequest(target, "{}")).toString().split("\r\n");
  expect(line).toBe("POST /v2 HTTP/1.1");
  expect(rest).toContain("authorization: Bearer key");
  expect(rest.slice(-3)).toEqual(["x-upstream: here", "", "{}"]);
});

describe("openConnection", () => {
  test("sends a request that is larger than the buffer of its socket", async () => {
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => new Response(`${(await request.arrayBuffer()).byteLength}`),
    });
    const url = `http://127.0.0.1:${server.port}`;
    const body = "x".repeat(20 * 1024 * 1024);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const connection = await openConnection(url, { onAnswer: resolve, onBroken: reject });
    connection.send(printRequest({ url, secret: "" }, body), { keepBody: true });
    expect(await promise).toEqual({ status: 200, body: `${body.length}` });
    connection.close();
    await server.stop(true);
  });
});

describe("requestBody", () => {
  const body = (bytes: number) => requestBody({ model: FAST_MODEL, stream: false, bytes });

  test.each([10_000, 1_000_000])("is padded to %d bytes", (bytes) => {
    expect(body(bytes).length).toBeWithin(bytes, bytes + 20);
    expect(JSON.parse(body(bytes)).model).toBe(FAST_MODEL);
  });

  test("is not padded to a size that it has anyway", () =>
    expect(body(1)).toBe(requestBody({ model: FAST_MODEL, stream: false })));
});

describe("faultOf", () => {
  test("accepts the answers of the upstream", () => {
    expect(faultOf(WHOLE_BODY, false)).toBeUndefined();
    expect(faultOf(STREAM_FRAMES.join(""), true)).toBeUndefined();
  });

  test.each([
    ["the end", STREAM_FRAMES.slice(0, -1)],
    ["the usage", STREAM_FRAMES.toSpliced(-2, 1)],
    ["one event", STREAM_FRAMES.slice(1)],
  ])("reports a stream without %s", (_name, frames) => expect(faultOf(frames.join(""), true)).toBeString());

  test("accepts a stream whose finish event reports the usage", () => {
    const [finish = "", usage = ""] = STREAM_FRAMES.slice(-3);
    const joined = finish.replace(/\}\s*$/, `,"usage":${/"usage":(\{.*?\})/.exec(usage)?.[1]}}\n\n`);
    expect(
      faultOf([...STREAM_FRAMES.slice(0, -3), joined, "data: [DONE]\n\n"].join(""), true),
    ).toBeUndefined();
  });

  test("reports a body that the upstream did not send", () => {
    expect(faultOf(WHOLE_BODY.replace('"total_tokens":318', '"total_tokens":1'), false)).toBeString();
    expect(faultOf("{}", false)).toBeString();
  });
});

describe("percentiles", () => {
  test("are sorted as numbers, not as text", () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentilesOf(values)).toEqual({ p50: 51, p99: 100 });
  });

  test.each([
    [[3], 3],
    [[10, 9, 100], 10],
    [[4, 1, 3, 2], 2.5],
    [[], Number.NaN],
  ])("the median of %p is %p", (values, expected) => expect(medianOf(values)).toBe(expected));
});
