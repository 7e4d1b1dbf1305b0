import { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { post, SURFACES, type Surface } from "../support/client.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

let gateway: TestGateway;
let reader: Database;
beforeAll(async () => {
  gateway = await startTestGateway();
  // A connection of its own sees only what is committed.
  reader = new Database(gateway.sqlite.path, { readonly: true });
});
beforeEach(() => gateway.upstream.reset());
afterAll(async () => {
  reader.close();
  await gateway.stop();
});

function committedState(requestId: string | null): unknown {
  const row: unknown = reader.query("SELECT state FROM holds WHERE hold_id = ?").get(requestId);
  return typeof row === "object" && row !== null && "state" in row ? row.state : undefined;
}

const END: Record<Surface["name"], RegExp> = {
  chat: /"finish_reason":"|\[DONE\]/,
  messages: /"stop_reason":"|message_stop/,
};

describe.each(SURFACES)("on $path the settlement is committed", (surface) => {
  test("before the client sees a finish in a stream", async () => {
    const settledState = await stateOfFinished(surface);
    for (let round = 0; round < 20; round++) {
      const response = await post(gateway, surface, { stream: true });
      const body = response.body?.getReader();
      let text = "";
      for (;;) {
        const chunk = await body?.read();
        const state = committedState(response.headers.get("x-request-id"));
        if (!chunk || chunk.done) break;
        text += new TextDecoder().decode(chunk.value);
        if (END[surface.name].test(text)) expect(state).toBe(settledState);
      }
      expect(text).toMatch(END[surface.name]);
    }
  });

  test("before the client sees a whole answer", async () => {
    const settledState = await stateOfFinished(surface);
    for (let round = 0; round < 20; round++) {
      const response = await post(gateway, surface);
      expect(committedState(response.headers.get("x-request-id"))).toBe(settledState);
      await response.text();
    }
  });
});

/** Returns the value of `state` in the database for a settled hold. */
async function stateOfFinished(surface: Surface): Promise<unknown> {
  const response = await post(gateway, surface);
  await response.text();
  expect((await gateway.receiptOf(response)).state).toBe("settled");
  const state = committedState(response.headers.get("x-request-id"));
  expect(state).toBeDefined();
  return state;
}
