// Serves plain chat requests, so that the coverage of this run shows the files that take part. Run by request-path.ts.
import { expect, test } from "bun:test";
import { startTestGateway } from "../support/test-gateway.ts";

const count = Number(Bun.env.TEST_REQUESTS ?? 0);
const BODY = JSON.stringify({ model: "chat", max_tokens: 8, messages: [{ role: "user", content: "hi" }] });

test(`${count} plain chat requests are answered`, async () => {
  await using gateway = await startServed();
  for (let sent = 0; sent < count; sent++) {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" },
      body: BODY,
    });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  }
});

async function startServed() {
  const gateway = await startTestGateway();
  return Object.assign(gateway, { [Symbol.asyncDispose]: () => gateway.stop() });
}
