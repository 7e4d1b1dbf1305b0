import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { Server } from "bun";
import { bytesOf } from "../../src/domain/byte-blocks.ts";
import { GatewayError } from "../../src/errors.ts";
import { type BodyBudget, createBodyBudget } from "../../src/http/body-budget.ts";
import { createBodyReader } from "../../src/http/read-body.ts";
import { sendRaw } from "../support/raw-client.ts";

const BUDGET = 1024 * 1024;
const MS_MAX = 150;

let budget: BodyBudget;
let server: Server<undefined>;
beforeAll(() => {
  budget = createBodyBudget(BUDGET);
  // Reads a body as every route does, in less time, and says how that went.
  server = Bun.serve({
    port: 0,
    async fetch(request) {
      const body = createBodyReader(request, budget, MS_MAX);
      try {
        return new Response(String(bytesOf(await body.read())));
      } catch (thrown) {
        return new Response(thrown instanceof GatewayError ? thrown.kind : "fault");
      } finally {
        body.release();
      }
    },
  });
});
afterAll(() => server.stop(true));

const head = (framing: string) => `POST / HTTP/1.1\r\nhost: localhost\r\n${framing}\r\n\r\n`;

/** Fails unless all of the budget is free. */
function expectAllGivenBack(): void {
  budget.take(BUDGET);
  budget.give(BUDGET);
}

/** A body that begins, falls silent beyond the limit, and then comes with a rush. */
async function* tooSlow(framing: string, piece: string): AsyncGenerator<string> {
  yield head(framing) + piece;
  await Bun.sleep(MS_MAX + 100);
  for (let sent = 0; sent < 10; sent++) yield piece;
  await Bun.sleep(50);
}

const PIECE = "x".repeat(0x8000);

describe("a body that does not arrive in time", () => {
  test.each([
    ["announced", `content-length: ${100 * PIECE.length}`, PIECE],
    ["announced and small", "content-length: 1000", "x"],
    ["chunked", "transfer-encoding: chunked", `8000\r\n${PIECE}\r\n`],
  ])("is refused when it is %s, and what still comes of it counts no more", async (_name, framing, piece) => {
    const answer = await sendRaw(server.url.origin, tooSlow(framing, piece));
    expect(answer.body).toBe("body_too_slow");
    expectAllGivenBack();
  });
});

describe("the budget of bodies", () => {
  test("is not used up by bodies that are announced and never sent", async () => {
    const silent = async function* () {
      yield head(`content-length: ${BUDGET - 1}`);
      await Bun.sleep(MS_MAX / 2);
    };
    const waiting = Array.from({ length: 20 }, () => sendRaw(server.url.origin, silent()));
    await Bun.sleep(MS_MAX / 4);
    const large = await fetch(server.url, { method: "POST", body: "x".repeat(BUDGET - 1000) });
    expect(await large.text()).toBe(String(BUDGET - 1000));
    expect((await Promise.all(waiting)).map(({ body }) => body)).not.toContain("too_many_body_bytes");
    expectAllGivenBack();
  });

  test("refuses what does not fit, with either framing, and is free again afterwards", async () => {
    const body = "x".repeat(BUDGET + 1);
    const chunks = new Blob([body]).stream();
    for (const init of [{ body }, { body: chunks }]) {
      const answer = await fetch(server.url, { method: "POST", ...init });
      expect(await answer.text()).toBe("too_many_body_bytes");
      expectAllGivenBack();
    }
  });

  test("is free again when clients hang up in the middle of a body", async () => {
    const halves = async function* () {
      yield head("transfer-encoding: chunked");
      yield `8000\r\n${PIECE}\r\n`;
    };
    await Promise.all(Array.from({ length: 20 }, () => breakOff(halves())));
    await Bun.sleep(50);
    expectAllGivenBack();
  });
});

/** Sends pieces and resets the connection. */
async function breakOff(pieces: AsyncGenerator<string>): Promise<void> {
  const socket = connect({ host: server.url.hostname, port: Number(server.url.port) });
  socket.on("error", () => {});
  for await (const piece of pieces) socket.write(piece);
  await Bun.sleep(30);
  socket.resetAndDestroy();
}
