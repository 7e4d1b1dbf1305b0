import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { SYSTEM } from "../../../src/accounts/audit-trail.ts";
import { startMailWorker } from "../../../src/delivery/mail/mail-worker.ts";
import { createSmtpTransport } from "../../../src/delivery/mail/transport.ts";
import { startWebhookWorker } from "../../../src/delivery/webhook-worker.ts";
import { listDeliveries } from "../../../src/notices/notices.ts";
import type { NoticeRule } from "../../../src/notices/rule.ts";
import { createRule } from "../../../src/notices/rules.ts";
import { DIALECTS, openTempStorage, type TempStorage } from "../../accounts/temp-storage.ts";
import { createCapturedLog } from "../../support/captured-log.ts";
import { startMailCatcher } from "../../support/mail-catcher.ts";
import { until } from "../../support/until.ts";

/** A process hides what it tries to deliver for at most two minutes. */
const CLAIM_MS = 180_000;

describe.each(DIALECTS)("a mail and a webhook in %s", (dialect) => {
  let storage: TempStorage;
  let rule: NoticeRule;
  let hook: ReturnType<typeof startHook>;
  let closers: (() => unknown)[];
  beforeEach(async () => {
    storage = await openTempStorage(dialect);
    hook = startHook();
    closers = [hook.stop];
    const { id } = await storage.newAccount();
    const order = { kind: "balance_below", threshold: "1", emails: ["ann@example.com"] } as const;
    const parts = { database: storage.database, now: Date.now, allowsLoopback: true };
    rule = await createRule(parts, SYSTEM, id, { ...order, webhookUrl: hook.url });
  });
  afterEach(async () => {
    for (const close of closers.reverse()) await close();
    await storage.close();
  });

  /** Orders both in a process of its own. Resolves with what kills it. */
  async function orderInChild(smtpUrl = ""): Promise<() => Promise<unknown>> {
    const script = join(import.meta.dir, "delivery-child.ts");
    const args = [JSON.stringify(storage.location), rule.id, smtpUrl];
    const child = Bun.spawn([process.execPath, script, ...args], { stdout: "pipe" });
    const kill = () => {
      child.kill("SIGKILL");
      return child.exited;
    };
    closers.push(kill);
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe("ordered\n");
    return kill;
  }

  /** Delivers in this process, as the next one. `lateMs` is how long after the other one it looks. */
  async function deliver(lateMs: number) {
    const catcher = await startMailCatcher();
    const { database } = storage;
    const timing = { log: createCapturedLog(), pollMs: 10, now: () => Date.now() + lateMs };
    const send = createSmtpTransport({ url: catcher.url, from: "noreply@tollgate.example" });
    const mint = async () => ({ link: "https://t.example/" });
    const mails = startMailWorker({ database, send, mint, publicUrl: () => "https://t.example", ...timing });
    const calls = startWebhookWorker({ database, allowsLoopback: true, ...timing });
    closers.push(catcher.stop, mails.close, calls.close);
    await until(async () => {
      const deliveries = await listDeliveries(database, rule);
      return deliveries.length === 2 && deliveries.every(({ state }) => state === "delivered");
    });
    return catcher.mails;
  }

  test("that a killed process had ordered are delivered by the next process, once each", async () => {
    const kill = await orderInChild();
    await kill();
    expect(await deliver(0)).toHaveLength(1);
    expect(hook.ids).toHaveLength(1);
  });

  test("that a killed process had handed over unrecorded are repeated once, under their first ids", async () => {
    const unanswered = startUnanswered();
    closers.push(unanswered.stop);
    hook.answers(false);
    const kill = await orderInChild(await unanswered.url);
    await until(() => unanswered.texts.length === 1 && hook.ids.length === 1);
    await kill();
    hook.answers(true);
    const again = await deliver(CLAIM_MS);
    const idOf = (text = "") => /^message-id: (\S+)/im.exec(text)?.[1];
    expect(again.map(({ text }) => idOf(text))).toEqual([idOf(unanswered.texts[0])]);
    expect(idOf(again[0]?.text)).toBeString();
    expect([hook.ids.length, new Set(hook.ids).size]).toEqual([2, 1]);
  });
});

/** A receiver of webhooks that keeps the ids of deliveries, and may leave calls without an answer. */
function startHook() {
  const ids: (string | null)[] = [];
  let isAnswering = true;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      ids.push(request.headers.get("tollgate-delivery"));
      if (!isAnswering) await new Promise(() => undefined);
      return new Response();
    },
  });
  return {
    ids,
    url: `http://127.0.0.1:${server.port}/`,
    answers: (whether: boolean) => {
      isAnswering = whether;
    },
    stop: () => server.stop(true),
  };
}

/** A mail server that receives whole mails and never confirms them. */
function startUnanswered() {
  const texts: string[] = [];
  const starting = startMailCatcher({
    async onData(stream) {
      texts.push(Buffer.concat(await Array.fromAsync(stream)).toString());
    },
  });
  return { texts, url: starting.then(({ url }) => url), stop: async () => (await starting).stop() };
}
