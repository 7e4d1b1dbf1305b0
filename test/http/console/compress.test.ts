import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { compressAnswer } from "../../../src/http/console/compress.ts";
import { type ConsoleEntry, createConsole } from "../../../src/http/console/entry.ts";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";

const ORIGIN = "http://console.test";
const KEYS = 12;

describe("the console's JSON", () => {
  let console: TestConsole;
  let entry: ConsoleEntry;
  let root: string;
  beforeAll(async () => {
    console = await openTestConsole();
    const { id } = await console.newAccount();
    const owner: Actor = await console.newMember(id, "owner");
    entry = createConsole({ ...console.parts, identify: async () => owner });
    root = `${ORIGIN}/console/api/accounts/${id}`;
    for (let index = 0; index < KEYS; index += 1) await post("/keys", { name: `key ${index}` });
    for (let index = 0; index < KEYS; index += 1) {
      const webhook_url = `https://hooks.example.com/${"secret".repeat(60)}`;
      await post("/notice-rules", { kind: "balance_below", threshold: "5", emails: [], webhook_url });
    }
  });
  afterAll(() => console.stop());

  const get = (path: string, accepted = "") =>
    entry(new Request(root + path, { headers: { "accept-encoding": accepted } }), "192.0.2.1");
  const post = async (path: string, body: unknown) => {
    const headers = { "content-type": "application/json", origin: console.parts.settings.publicUrl };
    const sent = { ...headers, "accept-encoding": "gzip, br, zstd" };
    const request = new Request(root + path, { method: "POST", headers: sent, body: JSON.stringify(body) });
    const response = await entry(request, "192.0.2.1");
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };

  test.each([
    ["gzip", "gzip, deflate, br", gunzipSync],
    ["zstd", "gzip, br, zstd", zstdDecompressSync],
    ["gzip", "zstd;q=0, gzip;q=0.5", gunzipSync],
  ] as const)("is sent as %s to a client that accepts %p", async (coding, accepted, decode) => {
    const plain = await (await get("/keys")).text();
    const answer = await get("/keys", accepted);
    const bytes = await answer.bytes();
    expect(answer.headers.get("content-encoding")).toBe(coding);
    expect(answer.headers.get("vary")).toBe("accept-encoding");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(bytes.byteLength).toBeLessThan(plain.length / 5);
    expect(JSON.parse(decode(bytes).toString()).items).toHaveLength(KEYS);
  });

  test.each(["", "identity", "br, deflate", "gzip; q=0.0"])(
    "is sent as it is to a client that accepts %p",
    async (accepted) => {
      const answer = await get("/keys", accepted);
      expect(answer.headers.get("content-encoding")).toBeNull();
      expect((await answer.json()).items).toHaveLength(KEYS);
    },
  );

  test("is sent as it is where it is short, answers a change, or may hold a webhook's secret", async () => {
    const big = Response.json({ secret: "z".repeat(10_000) });
    const change = new Request(`${root}/keys`, { method: "POST", headers: { "accept-encoding": "gzip" } });
    const made = await compressAnswer(change, big);
    const rules = await get("/notice-rules", "gzip");
    expect((await rules.clone().text()).length).toBeGreaterThan(4_096);
    for (const answer of [made, rules, await get("", "gzip"), await get("/unknown", "gzip")]) {
      expect(answer.headers.get("content-encoding")).toBeNull();
      expect(await answer.json()).toBeObject();
    }
  });
});
