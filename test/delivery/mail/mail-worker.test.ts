import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { and, eq } from "drizzle-orm";
import type { SMTPServerOptions } from "smtp-server";
import { connectDatabase } from "../../../src/db/database.ts";
import { startMailWorker, sweepMails } from "../../../src/delivery/mail/mail-worker.ts";
import { createMails, type MailOrder, type MintLink } from "../../../src/delivery/mail/mails.ts";
import { createPrinter, createSmtpTransport, type SendMail } from "../../../src/delivery/mail/transport.ts";
import { DIALECTS, openTempStorage, type TempStorage } from "../../accounts/temp-storage.ts";
import { createCapturedLog } from "../../support/captured-log.ts";
import { freePort } from "../../support/free-port.ts";
import { type MailCatcher, startMailCatcher } from "../../support/mail-catcher.ts";
import { until } from "../../support/until.ts";

const ORDER: MailOrder = {
  template: "password_reset",
  address: "ann@example.com",
  data: { person_id: "p1" },
};
const FROM = "Tollgate <noreply@tollgate.example>";

describe.each(DIALECTS)("on %s", (dialect) => {
  let storage: TempStorage;
  let catcher: MailCatcher;
  let closers: (() => Promise<unknown>)[];
  let log: ReturnType<typeof createCapturedLog>;

  beforeEach(async () => {
    storage = await openTempStorage(dialect);
    catcher = await startMailCatcher();
    closers = [];
    log = createCapturedLog();
  });
  afterEach(async () => {
    for (const close of closers) await close();
    await catcher.stop();
    await storage.close();
  });

  const enqueue = (order = ORDER, id?: string) =>
    storage.database.transact((tx) => createMails(storage.database).enqueue(tx, order, { id }));
  const rowsOf = () => storage.database.db.select().from(storage.database.tables.mails);
  const mintAny: MintLink = async () => ({ link: "https://t.example/console/reset?token=t0k3n" });

  function work(
    options: { send?: SendMail; mint?: MintLink; url?: string; database?: typeof storage.database } = {},
  ) {
    const worker = startMailWorker({
      database: options.database ?? storage.database,
      send: options.send ?? createSmtpTransport({ url: options.url ?? catcher.url, from: FROM }),
      mint: options.mint ?? mintAny,
      publicUrl: () => "https://t.example",
      log,
      pollMs: 10,
      backoffMs: [10, 20],
    });
    closers.push(worker.close);
    return worker;
  }

  test("a mail is sent after the commit of its transaction, with the link that was made for it", async () => {
    work();
    await enqueue();
    const mail = await catcher.until(({ to }) => to.includes("ann@example.com"));
    expect(mail).toMatchObject({ from: "noreply@tollgate.example", to: ["ann@example.com"] });
    expect(mail.text).toContain("https://t.example/console/reset?token=t0k3n");
    expect(mail.text).toMatch(/^Message-ID: <[\da-f-]{36}@tollgate\.example>\r?$/im);
    await until(async () => (await rowsOf())[0]?.sentAtMs != null);
    expect(await rowsOf()).toMatchObject([{ attempts: 1, nextAtMs: null, failedAtMs: null }]);
  });

  test("a password reset goes before the invitations that wait, and while they are being sent", async () => {
    const sent: string[] = [];
    const pending: (() => void)[] = [];
    const send: SendMail = async ({ address }) => {
      sent.push(address);
      if (address !== ORDER.address) await new Promise<void>((resolve) => pending.push(resolve));
    };
    for (let index = 0; index < 50; index += 1) {
      await enqueue({ template: "invitation", address: `p${index}@example.com`, data: {} });
    }
    work({ send });
    await until(() => pending.length === 4);
    await enqueue();
    await until(() => sent.includes(ORDER.address));
    expect(sent).toHaveLength(5);
    for (let index = 0; index < 50; index += 1) {
      await until(() => pending.length > 0);
      pending.shift()?.();
    }
  });

  test("one address does not take the turns of others", async () => {
    const sent: string[] = [];
    const notice = (address: string): MailOrder => ({ template: "notice", address, data: { text: "low" } });
    for (let index = 0; index < 40; index += 1) await enqueue(notice("flooded@example.com"));
    await enqueue(notice("other@example.com"));
    work({
      send: async ({ address }) => {
        sent.push(address);
      },
    });
    await until(() => sent.length === 41);
    expect(sent.indexOf("other@example.com")).toBeLessThan(4);
  });

  test("an address is ordered three resets an hour, and one that failed is not counted", async () => {
    const { db, tables } = storage.database;
    for (let index = 0; index < 5; index += 1) await enqueue();
    expect(await rowsOf()).toHaveLength(3);
    await enqueue({ ...ORDER, address: "bob@example.com" });
    await enqueue({ ...ORDER, template: "email_verification" });
    expect(await rowsOf()).toHaveLength(5);
    const isOrder = and(eq(tables.mails.address, ORDER.address), eq(tables.mails.template, ORDER.template));
    await db.update(tables.mails).set({ nextAtMs: null, failedAtMs: Date.now() }).where(isOrder);
    await enqueue();
    expect(await rowsOf()).toHaveLength(6);
    const later = createMails(storage.database, () => Date.now() + 3_600_001);
    for (let index = 0; index < 5; index += 1) {
      await storage.database.transact((tx) => later.enqueue(tx, ORDER));
    }
    expect(await rowsOf()).toHaveLength(9);
  });

  test("a mail of a transaction that is rolled back is never sent", async () => {
    work();
    const { database } = storage;
    const failing = database.transact(async (tx) => {
      await createMails(database).enqueue(tx, ORDER);
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    await enqueue({ ...ORDER, address: "bob@example.com" });
    await catcher.until(({ to }) => to.includes("bob@example.com"));
    expect(catcher.mails).toHaveLength(1);
  });

  test("the table of mails never holds the token of a link", async () => {
    work();
    await enqueue();
    await catcher.until(() => true);
    expect(JSON.stringify(await rowsOf())).not.toContain("t0k3n");
    expect(log.text()).not.toContain("t0k3n");
    expect(log.text()).not.toContain("ann@example.com");
  });

  test("a mail without a link is dropped and sent to nobody", async () => {
    work({ mint: async () => undefined });
    await enqueue();
    await until(async () => (await rowsOf())[0]?.failedAtMs != null);
    expect(catcher.mails).toEqual([]);
  });

  test("an address that is no plain address is not enqueued", async () => {
    for (const address of [
      "victim@e.com\r\nBcc: evil@e.com",
      "a@e.com, evil@e.com",
      "a@e.com;evil@e.com",
      "<evil@e.com>",
      "Ann <evil@e.com>",
      '"a b"@e.com',
      "a@b@e.com",
      "a@e..com",
      "a @e.com",
      `${"a".repeat(300)}@e.com`,
      "a@e.com\u2028",
      "group:evil@e.com;",
      "",
    ]) {
      await enqueue({ ...ORDER, address });
    }
    expect(await rowsOf()).toEqual([]);
  });

  test("line breaks and HTML of a customer change neither the headers nor the markup of a mail", async () => {
    work();
    const data = {
      text: "low\r\nBcc: evil@example.com\r\n\r\n<script>1</script>",
      account_name: "A<b>\r\nBcc: x@example.com",
    };
    await enqueue({ template: "notice", address: "ann@example.com", data });
    const mail = await catcher.until(() => true);
    expect(mail.to).toEqual(["ann@example.com"]);
    const [headers = ""] = mail.text.split("\r\n\r\n");
    expect(headers).not.toMatch(/^bcc:/im);
    expect(mail.text.slice(mail.text.indexOf("<!doctype"))).not.toContain("<script>");
  });

  test("an account's name that looks like a link is left out of an invitation", async () => {
    work();
    const data = { account_name: "Win at www.evil.example", role: "viewer" };
    await enqueue({ template: "invitation", address: "ann@example.com", data });
    const mail = await catcher.until(() => true);
    expect(mail.text).toContain("You are invited to an account as a viewer");
    expect(mail.text).not.toContain("evil.example");
  });

  test("a mail is tried three times, and then given up", async () => {
    work({ url: `smtp://127.0.0.1:${freePort()}` });
    await enqueue();
    await until(async () => (await rowsOf())[0]?.failedAtMs != null);
    expect(await rowsOf()).toMatchObject([{ attempts: 3, nextAtMs: null, sentAtMs: null }]);
  });

  test("a mail whose first try fails is sent by the second", async () => {
    let tries = 0;
    const real = createSmtpTransport({ url: catcher.url, from: FROM });
    work({ send: (letter) => (++tries === 1 ? Promise.reject(new Error("down")) : real(letter)) });
    await enqueue();
    await catcher.until(() => true);
    await until(async () => (await rowsOf())[0]?.sentAtMs != null);
    expect(await rowsOf()).toMatchObject([{ attempts: 2 }]);
  });

  test("a server that refuses the login, or the recipient, gets three tries and blocks no other mail", async () => {
    const strict = await startMailCatcher({
      onRcptTo: ({ address }, _session, callback) =>
        callback(address.startsWith("ann") ? new Error("550 no such user") : undefined),
      onAuth: (_login, _session, callback) => callback(new Error("535 refused")),
    });
    closers.push(strict.stop);
    work({ url: strict.url });
    await enqueue();
    await enqueue({ ...ORDER, address: "bob@example.com" });
    await strict.until(({ to }) => to.includes("bob@example.com"));
    await until(async () => (await rowsOf()).some(({ failedAtMs }) => failedAtMs != null));
    const refused = createSmtpTransport({ url: strict.url.replace("//", "//u:p@"), from: FROM });
    await expect(
      refused({ id: "1", address: "c@example.com", subject: "s", text: "t", html: "h" }),
    ).rejects.toThrow();
    expect(strict.mails).toHaveLength(1);
  });

  test("two processes send each mail once", async () => {
    const other = await connectDatabase(storage.location);
    for (let index = 0; index < 20; index++) await enqueue({ ...ORDER, address: `p${index}@example.com` });
    work();
    const second = work({ database: other });
    await until(async () => (await rowsOf()).every(({ sentAtMs }) => sentAtMs != null));
    await second.close();
    await other.close();
    expect(catcher.mails.flatMap(({ to }) => to).sort()).toEqual(
      Array.from({ length: 20 }, (_, index) => `p${index}@example.com`).sort(),
    );
  });

  test("a mail that a killed process had claimed is sent by the next one", async () => {
    await enqueue();
    const { db, tables } = storage.database;
    const [row] = await rowsOf();
    // As a process leaves it that dies while it sends its first try.
    await db
      .update(tables.mails)
      .set({ attempts: 1, nextAtMs: Date.now() - 1 })
      .where(eq(tables.mails.id, row?.id ?? ""));
    work();
    await catcher.until(() => true);
    await until(async () => (await rowsOf())[0]?.sentAtMs != null);
  });

  test("a mail that killed processes have tried three times is given up", async () => {
    await enqueue();
    const { db, tables } = storage.database;
    await db.update(tables.mails).set({ attempts: 3, nextAtMs: Date.now() - 1 });
    work();
    await until(async () => (await rowsOf())[0]?.failedAtMs != null);
    expect(catcher.mails).toEqual([]);
  });

  test("a mail that was due in the far future, before a clock was set back, is sent now", async () => {
    await enqueue();
    const { db, tables } = storage.database;
    await db.update(tables.mails).set({ nextAtMs: Date.now() + 86_400_000 });
    work();
    await catcher.until(() => true);
  });

  test("an order with an id that was used is one mail", async () => {
    await enqueue(ORDER, "notice-1.0");
    await enqueue(ORDER, "notice-1.0");
    expect(await rowsOf()).toHaveLength(1);
  });

  test("mails that ended are deleted after 30 days, waiting ones are not", async () => {
    await enqueue(ORDER, "old");
    await enqueue(ORDER, "waiting");
    const { db, database, tables } = { ...storage.database, database: storage.database };
    await db.update(tables.mails).set({ nextAtMs: null, sentAtMs: 1 }).where(eq(tables.mails.id, "old"));
    await sweepMails(database, Date.now() + 29 * 86_400_000);
    expect(await rowsOf()).toHaveLength(2);
    await sweepMails(database, Date.now() + 31 * 86_400_000);
    expect((await rowsOf()).map(({ id }) => id)).toEqual(["waiting"]);
  });
});

describe("a mail server", () => {
  test("that is silent after the connection makes a try fail within its limits", async () => {
    const silent: Server = createServer();
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = silent.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const send = createSmtpTransport({ url: `smtp://127.0.0.1:${port}`, from: FROM });
    const letter = { id: "1", address: "a@example.com", subject: "s", text: "t", html: "h" };
    await expect(send(letter)).rejects.toThrow();
    silent.close();
  });

  test("that offers no TLS gets no password from another machine", async () => {
    const logins: string[] = [];
    const onAuth: SMTPServerOptions["onAuth"] = ({ username = "" }, _session, callback) => {
      logins.push(username);
      callback(null, { user: username });
    };
    const plain = await startMailCatcher({ onAuth }, "0.0.0.0");
    const letter = { id: "1", address: "a@example.com", subject: "s", text: "t", html: "h" };
    const sendTo = (host: string) =>
      createSmtpTransport({ url: `smtp://user:pass@${host}:${plain.port}`, from: FROM })(letter);
    await sendTo("127.0.0.1");
    const [outside] = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal);
    if (outside) await expect(sendTo(outside.address)).rejects.toThrow();
    await plain.stop();
    expect(logins).toEqual(["user"]);
  });
});

test("without a mail server, a mail is printed with its link", async () => {
  const printed: string[] = [];
  await createPrinter((text) => void printed.push(text))({
    id: "1",
    address: "ann@example.com",
    subject: "Choose a new password",
    text: "Here:\n\nhttps://t.example/x\n",
    html: "",
  });
  expect(printed.join("")).toContain("Mail to ann@example.com");
  expect(printed.join("")).toContain("https://t.example/x");
});
