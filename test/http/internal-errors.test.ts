import { describe, expect, test } from "bun:test";
import { CHAT, objectOf, post, SURFACES } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { startTestGateway } from "../support/test-gateway.ts";

describe("an internal error", () => {
  test("is a 500 without details when the ledger cannot be read", async () => {
    const gateway = await startTestGateway();
    const { client } = gateway.sqlite;
    client.run("ALTER TABLE holds RENAME TO lost_table");
    for (const surface of SURFACES) {
      await expectError(await post(gateway, surface), surface, "internal");
      await expectError(await post(gateway, surface, { stream: true }), surface, "internal");
    }
    expect(gateway.upstream.seen).toBeEmpty();
    const lookup = await fetch(`${gateway.url}/v1/receipts/01a1fcb8-617b-7027-9aa9-28f5cbc8cb23`, {
      headers: { "x-api-key": gateway.secret },
    });
    await expectError(lookup, CHAT, "internal");
    expect(gateway.log.text()).toContain("internal error");
    client.run("ALTER TABLE lost_table RENAME TO holds");
    expect((await post(gateway, CHAT)).status).toBe(200);
    await gateway.stop();
  });

  test("is a 500 on every route when the keys cannot be read", async () => {
    const gateway = await startTestGateway();
    gateway.sqlite.client.run("ALTER TABLE api_keys RENAME TO lost_table");
    for (const surface of SURFACES) await expectError(await post(gateway, surface), surface, "internal");
    for (const path of ["/v1/models", "/v1/key"]) {
      const headers = { "x-api-key": gateway.secret };
      await expectError(await fetch(`${gateway.url}${path}`, { headers }), CHAT, "internal");
    }
    expect(gateway.log.text()).not.toContain(gateway.secret);
    await gateway.stop();
  });

  test("counts as a request, and returns its tokens and slot", async () => {
    const gateway = await startTestGateway();
    const limits = { requestsPerMinute: 5, tokensPerMinute: 2_000, concurrentRequests: 1 };
    const { secret } = await gateway.newKey({ limits });
    const { client } = gateway.sqlite;
    client.run("ALTER TABLE holds RENAME TO lost_table");
    for (const surface of SURFACES) {
      await expectError(await post(gateway, surface, { secret }), surface, "internal");
    }
    client.run("ALTER TABLE lost_table RENAME TO holds");
    const state = await fetch(`${gateway.url}/v1/key`, { headers: { "x-api-key": secret } });
    expect(await objectOf(state)).toMatchObject({
      requests_per_minute: { used: 2 },
      tokens_per_minute: { used: 0 },
      concurrent_requests: { used: 0 },
    });
    await gateway.stop();
  });
});
