import { describe, expect, test } from "bun:test";
import { CHAT, MESSAGES, post, SURFACES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { sendRaw } from "../support/raw-client.ts";
import { startTestGateway } from "../support/test-gateway.ts";

const LIMIT = 30 * 1024 * 1024;

const gateway = gatewayForTests();

/** A valid body of exactly this many bytes. */
function bodyOf(surface: Surface, bytes: number): string {
  const empty = JSON.stringify(surface.body({ padding: "" })).length;
  return JSON.stringify(surface.body({ padding: "x".repeat(bytes - empty) }));
}

function* chunked(text: string): Generator<string> {
  const size = 1024 * 1024;
  for (let at = 0; at < text.length; at += size) {
    const piece = text.slice(at, at + size);
    yield `${piece.length.toString(16)}\r\n${piece}\r\n`;
  }
  yield "0\r\n\r\n";
}

function* inPieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 1024 * 1024) yield text.slice(at, at + 1024 * 1024);
}

function* request(surface: Surface, framing: string, pieces: Iterable<string>): Generator<string> {
  yield `POST ${surface.path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${gateway.secret}\r\n${framing}\r\n\r\n`;
  yield* pieces;
}

describe("a body of exactly 30 MiB", () => {
  test("is accepted with content-length, to its last byte", async () => {
    const raw = bodyOf(CHAT, LIMIT);
    expect(raw).toHaveLength(LIMIT);
    expect((await post(gateway, CHAT, { raw })).status).toBe(200);
    expect(gateway.upstream.seen.at(-1)?.bodyText).toContain(raw.slice(20, -2));
  });

  test("is accepted chunked", async () => {
    const text = bodyOf(MESSAGES, LIMIT);
    const answer = await sendRaw(gateway.url, request(MESSAGES, "transfer-encoding: chunked", chunked(text)));
    expect(answer.status).toBe(200);
  });
});

describe.each(SURFACES)("a body of 30 MiB and one byte, on $path,", (surface) => {
  test("case 10: is rejected for a client that uploads all of it", async () => {
    await expectError(
      await post(gateway, surface, { raw: bodyOf(surface, LIMIT + 1) }),
      surface,
      "body_too_large",
    );
  });

  test.each([
    ["content-length", `content-length: ${LIMIT + 1}`, inPieces],
    ["chunks", "transfer-encoding: chunked", chunked],
  ])("is rejected with %s while the client continues to send", async (_name, framing, cut) => {
    const text = bodyOf(surface, LIMIT + 1);
    const answer = await sendRaw(gateway.url, request(surface, framing, cut(text)));
    expect(answer.fault).toBeUndefined();
    expect(answer.status).toBe(413);
    expect(answer.headers["content-type"]).toStartWith("application/json");
    expect(answer.headers["x-should-retry"]).toBe("false");
    expect(answer.body).toContain("request_too_large");
  });

  test("is rejected before it is sent when its length is announced", async () => {
    const answer = await sendRaw(gateway.url, request(surface, `content-length: ${10 * LIMIT}`, []));
    expect(answer.status).toBe(413);
    expect(answer.body).toContain("request_too_large");
  });

  test("is rejected in a far larger upload without an end", async () => {
    const endless = function* () {
      for (let sent = 0; sent < 2 * LIMIT; sent += 1024 * 1024)
        yield `100000\r\n${"x".repeat(1024 * 1024)}\r\n`;
      yield "0\r\n\r\n";
    };
    const answer = await sendRaw(gateway.url, request(surface, "transfer-encoding: chunked", endless()));
    expect(answer.status).toBe(413);
  });
});

test("the bytes of rejected and finished bodies are returned to the budget", async () => {
  const small = await startTestGateway({ config: { bodyBytesInFlightMax: LIMIT + 1000 } });
  for (let round = 0; round < 3; round++) {
    expect((await post(small, CHAT, { raw: bodyOf(CHAT, LIMIT) })).status).toBe(200);
    expect((await post(small, CHAT, { raw: bodyOf(CHAT, LIMIT + 1) })).status).toBe(413);
  }
  await small.stop();
});
