import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SYSTEM } from "../../src/accounts/audit-trail.ts";
import { createMails } from "../../src/delivery/mail/mails.ts";
import { signBody } from "../../src/domain/signature.ts";
import { NoticePass } from "../../src/notices/pass.ts";
import { createRule } from "../../src/notices/rules.ts";
import { openTempStorage } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { until } from "../support/until.ts";
import { PROGRAMS, WEBHOOK_BODY, WEBHOOK_CHECK } from "./console-blocks.ts";
import { createReaderShell } from "./reader-shell.ts";

describe("the commands of the page for programs", () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-docs-"));
  const shell = createReaderShell(folder);
  let served: ServedProcess;
  beforeAll(async () => {
    served = await startServedProcess({ folder, environment: shell.environment });
  });
  afterAll(async () => {
    served.signal("SIGTERM");
    await served.exitCode;
    rmSync(folder, { recursive: true });
  });

  test("create an account and top it up, with a management key of the printed operator", async () => {
    const printed = (label: string) => new RegExp(`^ {2}${label} +(\\S+)$`, "m").exec(served.stderr())?.[1];
    // Both are printed after the port is open.
    await until(() => printed("password") !== undefined);
    const [email, password] = [printed("sign in"), printed("password")];
    const first = await send("/sign-in", { email, password });
    const changed = await send("/me/password", { current: password, password: "a better password" }, first);
    const { secret } = await (await send("/operator/management-keys", { name: "platform" }, changed)).json();
    const environment = { BASE: served.url, MANAGEMENT_KEY: secret };
    const [create = "", topUp = ""] = PROGRAMS.text.split(/^(?=curl)/m);

    const account = JSON.parse((await shell.paste(create, environment)).stdout);
    expect(account).toMatchObject({ name: "customer 17", state: "active" });
    const repeated = JSON.parse((await shell.paste(create, environment)).stdout);
    expect(repeated.id).toBe(account.id);
    const wallet = JSON.parse((await shell.paste(topUp, { ...environment, ACCOUNT: account.id })).stdout);
    expect(wallet).toMatchObject({ available_usd: "20.00" });
  });

  /** Sends a change as a page of the console does, in the session of an earlier answer. */
  async function send(path: string, body: unknown, signedIn?: Response): Promise<Response> {
    const cookie = signedIn?.headers.get("set-cookie")?.split(";")[0] ?? "";
    const answer = await fetch(`${served.url}/console/api${path}`, {
      method: "POST",
      headers: { origin: served.url, "content-type": "application/json", cookie },
      body: JSON.stringify(body),
    });
    expect([path, answer.status]).toEqual([path, 200]);
    return answer;
  }
});

test("the body of a webhook has the members and the text that the page of notices shows", async () => {
  const storage = await openTempStorage("sqlite");
  try {
    const { database, ledger, now } = storage;
    const { id: walletId } = await storage.newAccount();
    await ledger.topUp({ walletId, topUpId: "t", amount: 9_500_000_000n });
    const rule = {
      kind: "balance_below",
      threshold: "10",
      emails: [],
      webhookUrl: "https://example.com",
    } as const;
    await createRule({ database, now, allowsLoopback: false }, SYSTEM, walletId, rule);
    const log = createCapturedLog();
    await new NoticePass({ database, ledger, now, log, mails: createMails(database, now) }, 60_000).run();
    const [call] = await database.db.select().from(database.tables.webhookCalls);

    const sent = JSON.parse(call?.body ?? "");
    const shown = JSON.parse(WEBHOOK_BODY.text);
    expect(Object.keys(sent)).toEqual(Object.keys(shown));
    const { type, kind, text, threshold, value } = shown;
    expect(sent).toMatchObject({ type, kind, text, threshold, value });
  } finally {
    await storage.close();
  }
});

describe("the check of a webhook on the page of notices", () => {
  const body = WEBHOOK_BODY.text;
  const nowMs = Date.now();
  const signature = signBody("whsec_x", body, nowMs);

  test.each([
    ["accepts the event that we sign", signature, body, true],
    ["refuses another body", signature, `${body} `, false],
    ["refuses another secret", signBody("whsec_y", body, nowMs), body, false],
    ["refuses an event of ten minutes ago", signBody("whsec_x", body, nowMs - 600_000), body, false],
    ["refuses a header of another form", "v1=00", body, false],
  ])("%s", async (_name, header, sent, isGenuine) => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-docs-"));
    const call = `console.log(isGenuine("whsec_x", ${JSON.stringify(header)}, ${JSON.stringify(sent)}))`;
    const { stdout, stderr } = await createReaderShell(folder).run(`${WEBHOOK_CHECK.text}\n${call}\n`, {});
    rmSync(folder, { recursive: true });
    expect([stdout, stderr]).toEqual([`${isGenuine}\n`, ""]);
  });
});
