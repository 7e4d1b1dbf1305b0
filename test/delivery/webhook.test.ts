import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:net";
import { SYSTEM } from "../../src/accounts/audit-trail.ts";
import { connectDatabase } from "../../src/db/database.ts";
import { createMails } from "../../src/delivery/mail/mails.ts";
import { findReceiver, findUrlProblem } from "../../src/delivery/webhook-address.ts";
import { postWebhook, readWebhookSecret, startWebhookWorker } from "../../src/delivery/webhook-worker.ts";
import { signBody } from "../../src/domain/signature.ts";
import { raiseTest } from "../../src/notices/episodes.ts";
import { listDeliveries } from "../../src/notices/notices.ts";
import type { NoticeRule } from "../../src/notices/rule.ts";
import { createRule } from "../../src/notices/rules.ts";
import { DIALECTS, openTempStorage, type TempStorage } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { makeCertificates } from "../support/certificates.ts";
import { until } from "../support/until.ts";

interface Call {
  readonly headers: Headers;
  readonly body: string;
}

/** A receiver of webhooks that answers its calls one by one with these statuses, then with 200. */
function startReceiver(statuses: readonly number[] = [], headers: Record<string, string> = {}) {
  const calls: Call[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      calls.push({ headers: request.headers, body: await request.text() });
      return new Response("x".repeat(100_000), { status: statuses[calls.length - 1] ?? 200, headers });
    },
  });
  return { calls, url: `http://127.0.0.1:${server.port}/hook?a=b`, stop: () => server.stop(true) };
}

describe.each(DIALECTS)("on %s", (dialect) => {
  let storage: TempStorage;
  let closers: (() => unknown)[];

  beforeEach(async () => {
    storage = await openTempStorage(dialect);
    closers = [];
  });
  afterEach(async () => {
    for (const close of closers.reverse()) await close();
    await storage.close();
  });

  async function ruleTo(webhookUrl: string): Promise<NoticeRule> {
    const { id } = await storage.newAccount();
    const parts = { database: storage.database, now: Date.now, allowsLoopback: true };
    return createRule(parts, SYSTEM, id, { kind: "balance_below", threshold: "1", emails: [], webhookUrl });
  }
  const raise = (rule: NoticeRule) =>
    raiseTest({ database: storage.database, mails: createMails(storage.database), now: Date.now }, rule);

  function work(database = storage.database, timeoutMs = 60_000) {
    const log = createCapturedLog();
    const timing = { pollMs: 10, backoffMs: [10, 20] as const, timeoutMs };
    const worker = startWebhookWorker({ database, log, allowsLoopback: true, ...timing });
    closers.push(worker.close);
    return log;
  }
  function receive(...options: Parameters<typeof startReceiver>) {
    const receiver = startReceiver(...options);
    closers.push(receiver.stop);
    return receiver;
  }
  const stateOf = async (rule: NoticeRule) => (await listDeliveries(storage.database, rule))[0];

  test("a hundred calls to a silent receiver of one account do not delay a call of another", async () => {
    const silent = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Promise<Response>(() => {}),
    });
    closers.push(() => silent.stop(true));
    const loud = await ruleTo(`http://127.0.0.1:${silent.port}/`);
    for (let count = 0; count < 100; count += 1) await raise(loud);
    const receiver = receive();
    const other = await ruleTo(receiver.url);
    await raise(other);
    // The receiver stays silent for longer than this test takes.
    work(storage.database, 120_000);
    await until(async () => (await stateOf(other))?.state === "delivered");
    const calls = await listDeliveries(storage.database, loud);
    expect(calls.filter(({ state }) => state !== "waiting")).toEqual([]);
  });

  test("silent receivers of many accounts leave half of the places to others once they have failed", async () => {
    const silent = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Promise<Response>(() => {}),
    });
    closers.push(() => silent.stop(true));
    for (let count = 0; count < 64; count += 1) {
      const rule = await ruleTo(`http://127.0.0.1:${silent.port}/`);
      await raise(rule);
      await raise(rule);
    }
    const log = work(storage.database, 300);
    await until(() => log.text().split("webhook not delivered").length > 64);
    const receiver = receive();
    const other = await ruleTo(receiver.url);
    await until(async () => {
      const calls = await listDeliveries(storage.database, other);
      // A busy machine may need more than 300 ms for each of its calls.
      if (calls.every(({ state }) => state === "failed")) await raise(other);
      return calls.some(({ state }) => state === "delivered");
    });
  });

  test("a webhook is signed with the secret of its rule", async () => {
    const receiver = receive();
    const rule = await ruleTo(receiver.url);
    const noticeId = await raise(rule);
    work();
    await until(async () => (await stateOf(rule))?.state === "delivered");
    const [call] = receiver.calls;
    const secret = await readWebhookSecret(storage.database, rule.id);
    const [, t, v1] = /^t=(\d+),v1=([\da-f]{64})$/.exec(call?.headers.get("tollgate-signature") ?? "") ?? [];
    expect(v1).toBe(createHmac("sha256", secret).update(`${t}.${call?.body}`).digest("hex"));
    expect(Math.abs(Number(t) - Date.now() / 1_000)).toBeLessThan(300);
    expect(JSON.parse(call?.body ?? "")).toMatchObject({
      type: "notice.test",
      id: noticeId,
      account_id: rule.accountId,
    });
    expect(receiver.calls).toHaveLength(1);
  });

  test("the secret of a rule is equal in all processes, differs by rule, and is stored nowhere", async () => {
    const other = await connectDatabase(storage.location);
    closers.push(() => other.close());
    const secrets = await Promise.all([
      ...Array.from({ length: 5 }, () => readWebhookSecret(storage.database, "r1")),
      ...Array.from({ length: 5 }, () => readWebhookSecret(other, "r1")),
    ]);
    expect(new Set(secrets).size).toBe(1);
    expect(await readWebhookSecret(other, "r2")).not.toBe(secrets[0]);
    const stored = await storage.database.db.select().from(storage.database.tables.sharedValues);
    expect(JSON.stringify(stored)).not.toContain(secrets[0]?.slice(6) ?? "?");
  });

  test("a receiver that fails twice gets the webhook at the third try, with one delivery id", async () => {
    const receiver = receive([500, 404]);
    const rule = await ruleTo(receiver.url);
    await raise(rule);
    work();
    await until(async () => (await stateOf(rule))?.state === "delivered");
    expect(receiver.calls).toHaveLength(3);
    expect(new Set(receiver.calls.map(({ headers }) => headers.get("tollgate-delivery"))).size).toBe(1);
    expect(await stateOf(rule)).toMatchObject({ attempts: 3 });
  });

  test("a webhook is given up after three tries", async () => {
    const receiver = receive([500, 500, 500]);
    const rule = await ruleTo(receiver.url);
    await raise(rule);
    work();
    await until(async () => (await stateOf(rule))?.state === "failed");
    expect(receiver.calls).toHaveLength(3);
    expect(await stateOf(rule)).toMatchObject({ lastStatus: 500 });
  });

  test("the status of the last call is kept, and none when the receiver does not answer", async () => {
    const receiver = receive([503]);
    const rule = await ruleTo(receiver.url);
    await raise(rule);
    work();
    await until(async () => (await stateOf(rule))?.state === "delivered");
    expect(await stateOf(rule)).toMatchObject({ attempts: 2, lastStatus: 200 });
    await receiver.stop();
    await raise(rule);
    await until(async () => (await stateOf(rule))?.state === "failed");
    expect(await stateOf(rule)).toMatchObject({ attempts: 3, lastStatus: undefined });
  });

  test("a redirect is not followed", async () => {
    const inner = receive();
    const receiver = receive([307, 302, 301], { location: inner.url });
    const rule = await ruleTo(receiver.url);
    await raise(rule);
    work();
    await until(async () => (await stateOf(rule))?.state === "failed");
    expect(inner.calls).toEqual([]);
  });

  test("a slow receiver ends a try at its time limit, and no answer of a receiver is kept", async () => {
    const silent: Server = createServer(
      (socket) => void socket.write("HTTP/1.1 200 OK\r\nx-secret: s3cr3t\r\n"),
    );
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    closers.push(() => silent.close());
    const address = silent.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const rule = await ruleTo(`http://127.0.0.1:${port}/`);
    await raise(rule);
    const log = work(storage.database, 100);
    await until(async () => (await stateOf(rule))?.state === "failed");
    const rows = await storage.database.db.select().from(storage.database.tables.webhookCalls);
    expect(JSON.stringify(rows) + log.text()).not.toContain("s3cr3t");
  });

  test("two processes call each webhook once", async () => {
    const receiver = receive();
    const rule = await ruleTo(receiver.url);
    for (let index = 0; index < 10; index++) await raise(rule);
    const other = await connectDatabase(storage.location);
    closers.push(() => other.close());
    work();
    work(other);
    await until(async () =>
      (await listDeliveries(storage.database, rule)).every(({ state }) => state === "delivered"),
    );
    expect(receiver.calls).toHaveLength(10);
  });

  test("a webhook that a killed process had claimed is called by the next one", async () => {
    const receiver = receive();
    const rule = await ruleTo(receiver.url);
    await raise(rule);
    const { db, tables } = storage.database;
    // As a process leaves it that dies in its first try.
    await db.update(tables.webhookCalls).set({ attempts: 1, nextAtMs: Date.now() - 1 });
    work();
    await until(async () => (await stateOf(rule))?.state === "delivered");
    expect(receiver.calls).toHaveLength(1);
  });
});

describe("the URL of a webhook", () => {
  const STRICT = { allowsLoopback: false };

  test.each([
    ["http://hooks.example.com/", "plain HTTP"],
    ["ftp://hooks.example.com/", "another scheme"],
    ["https://user:pass@hooks.example.com/", "credentials"],
    ["https://hooks.example.com/#a", "a fragment"],
    ["https://localhost/", "this machine"],
    ["https://api.localhost/", "a name of this machine"],
    ["https://127.0.0.1/", "loopback"],
    ["https://2130706433/", "loopback as a number"],
    ["https://0x7f.1/", "loopback in hexadecimal"],
    ["https://0177.0.0.1/", "loopback in octal"],
    ["https://10.1.2.3/", "a private network"],
    ["https://192.168.0.1/", "a private network"],
    ["https://169.254.169.254/latest/meta-data", "the metadata of a cloud"],
    ["https://100.64.0.1/", "a carrier's network"],
    ["https://0.0.0.0/", "no address"],
    ["https://224.0.0.1/", "multicast"],
    ["https://[::1]/", "loopback of IPv6"],
    ["https://[::ffff:127.0.0.1]/", "loopback mapped to IPv6"],
    ["https://[fd00::1]/", "a private network of IPv6"],
    ["https://[fe80::1]/", "a link-local address"],
    ["https://[64:ff9b::7f00:1]/", "loopback behind NAT64"],
    ["https://[2002:7f00:1::]/", "loopback behind 6to4"],
    ["https://db/", "a name without a dot"],
    ["https://printer.local/", "a name of the local network"],
    ["https://vault.internal/", "an internal name"],
    ["not a url", "no URL"],
    [`https://e.example/${"a".repeat(3_000)}`, "too long a text"],
  ])("%s is refused: %s", (url) => expect(findUrlProblem(url, STRICT)).toBeString());

  test.each([
    "https://hooks.example.com/x?y=z",
    "https://hooks.example.com:8443/",
    "https://1.1.1.1/",
    "https://[2606:4700::1111]/",
  ])("%s is accepted", (url) => expect(findUrlProblem(url, STRICT)).toBeUndefined());

  test("a name that leads to this machine is refused when it is called, whatever it was before", async () => {
    await expect(findReceiver(new URL("https://localhost/"), STRICT)).rejects.toThrow("not public");
    const receiver = startReceiver();
    const post = { url: receiver.url, body: "{}", headers: {} };
    await expect(postWebhook(post, STRICT)).rejects.toThrow("not public");
    await expect(
      postWebhook({ ...post, url: receiver.url.replace("127.0.0.1", "localhost") }, STRICT),
    ).rejects.toThrow();
    expect(receiver.calls).toEqual([]);
    receiver.stop();
  });
});

describe("a webhook call", () => {
  test("passes over interim answers, and refuses what is not HTTP", async () => {
    const answers = ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "SSH-2.0-x\r\n\r\n"];
    const server: Server = createServer((socket) => void socket.end(answers.shift() ?? ""));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const post = { url: `http://127.0.0.1:${port}/`, body: "{}", headers: {} };
    expect(await postWebhook(post, { allowsLoopback: true })).toBe(204);
    await expect(postWebhook(post, { allowsLoopback: true })).rejects.toThrow("no status");
    await expect(postWebhook(post, { allowsLoopback: true })).rejects.toThrow();
    server.close();
  });

  test("over TLS needs a certificate of a trusted authority, in force for the host of the URL", async () => {
    using ours = makeCertificates();
    using theirs = makeCertificates();
    const bodies: string[] = [];
    const server = Bun.serve({
      port: 0,
      hostname: "0.0.0.0",
      tls: ours.server,
      async fetch(request) {
        bodies.push(await request.text());
        return new Response(null, { status: 204 });
      },
    });
    const call = (host: string, ca?: string) =>
      postWebhook(
        { url: `https://${host}:${server.port}/`, body: "{}", headers: {} },
        { allowsLoopback: true, ...(ca ? { ca } : {}) },
      );
    expect(await call("localhost", ours.authority)).toBe(204);
    expect(await call("127.0.0.1", ours.authority)).toBe(204);
    expect(bodies).toEqual(["{}", "{}"]);
    // The certificate of an authority that nobody trusts, of another one, and one of another host.
    await expect(call("localhost")).rejects.toThrow();
    await expect(call("localhost", theirs.authority)).rejects.toThrow();
    await expect(call("127.0.0.2", ours.authority)).rejects.toThrow();
    expect(bodies).toHaveLength(2);
    await server.stop(true);
  });

  test("is signed over time and body", () => {
    expect(signBody("whsec_x", "{}", 1_700_000_000_999)).toBe(
      `t=1700000000,v1=${createHmac("sha256", "whsec_x").update("1700000000.{}").digest("hex")}`,
    );
  });
});
