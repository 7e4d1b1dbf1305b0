import { afterEach, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { runTollgate } from "../cli/run-tollgate.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

const running: ServedProcess[] = [];
afterEach(async () => {
  for (const served of running.splice(0)) {
    served.signal("SIGKILL");
    await served.exitCode;
  }
});

async function start(folder: string, environment: Record<string, string> = {}): Promise<ServedProcess> {
  const served = await startServedProcess({ folder, environment });
  running.push(served);
  return served;
}

async function stop(served: ServedProcess): Promise<void> {
  served.signal("SIGTERM");
  expect(await served.exitCode).toBe(0);
}

/** Returns the notice of a first start. It is printed in one piece, after the port is open. */
async function noticeOf({ stderr }: ServedProcess): Promise<string> {
  await until(() => stderr() !== "");
  return stderr();
}

function secretIn(text: string): string {
  const secret = /sk-tg-[\w-]{43}/.exec(text)?.[0];
  if (!secret) throw new Error(`There is no key in: ${text}`);
  return secret;
}

function passwordIn(text: string): string {
  const password = /^ {2}password (\S+)$/m.exec(text)?.[1];
  if (!password) throw new Error("There is no password in the notice");
  return password;
}

/** Calls the console's API as a browser on its page does. */
function callConsole(url: string, path: string, { cookie = "", ...body }: Record<string, string> = {}) {
  return fetch(`${url}/console/api${path}`, {
    method: Object.keys(body).length > 0 ? "POST" : "GET",
    headers: { "sec-fetch-site": "same-origin", "content-type": "application/json", cookie },
    ...(Object.keys(body).length > 0 ? { body: JSON.stringify(body) } : {}),
  });
}

function cookieOf(answer: Response): string {
  return answer.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
}

async function balanceIn(folder: string): Promise<unknown> {
  return (await runTollgate(folder, ["account", "list", "--json"])).json().accounts;
}

describe("the first start in an empty folder", () => {
  test("prints a key and a curl line that streams a response of the demo model when pasted", async () => {
    const served = await start(tempFolder());
    const notice = await noticeOf(served);
    const line = /^.*?(curl .*)$/m.exec(notice)?.[1] ?? "";
    expect(line).toContain(secretIn(notice));
    expect(line).toContain(served.url);
    const pasted = Bun.spawn(["sh", "-c", line], { stdout: "pipe", stderr: "ignore" });
    const received = await new Response(pasted.stdout).text();
    expect(received).toContain('"model":"demo"');
    expect(received).toContain("Hello");
    expect(received).toEndWith("data: [DONE]\n\n");
    await stop(served);
    expect(served.stdout()).not.toContain(secretIn(notice));
  });

  test("prints a one-time password that opens the console once it is changed", async () => {
    const served = await start(tempFolder());
    const notice = await noticeOf(served);
    expect(notice).toContain(`console  ${served.url}/console\n`);
    const email = "operator@localhost";
    const signedIn = await callConsole(served.url, "/sign-in", { email, password: passwordIn(notice) });
    expect(await signedIn.json()).toMatchObject({
      must_change_password: true,
      person: { email, is_operator: true },
    });
    const change = { current: passwordIn(notice), password: "a password of my own" };
    const changed = await callConsole(served.url, "/me/password", { ...change, cookie: cookieOf(signedIn) });
    expect(changed.status).toBe(200);
    const me = await callConsole(served.url, "/me", { cookie: cookieOf(changed) });
    expect(await me.json()).toMatchObject({ accounts: [{ name: "demo", role: "owner" }] });
    expect(served.stdout()).not.toContain(passwordIn(notice));
  });

  test("prints one key when two gateways start at once", async () => {
    const folder = tempFolder();
    const both = await Promise.all([start(folder), start(folder)]);
    const secrets = () => both.flatMap((each) => each.stderr().match(/sk-tg-[\w-]{43}/g) ?? []);
    await until(() => secrets().length > 0);
    for (const served of both) await stop(served);
    expect(new Set(secrets()).size).toBe(1);
    expect(both.filter((each) => each.stderr().includes("  password "))).toHaveLength(1);
    expect((await runTollgate(folder, ["key", "list", "--json"])).json().keys).toHaveLength(1);
    expect(await balanceIn(folder)).toMatchObject([{ name: "demo", posted_usd: "5.00" }]);
  });

  test("makes its database readable by this user alone", async () => {
    const folder = tempFolder();
    await start(folder);
    expect(statSync(join(folder, "data")).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "data/tollgate.db")).mode & 0o777).toBe(0o600);
  });
});

describe("the first start where other machines reach the gateway", () => {
  const OPEN = { HOST: "0.0.0.0", METRICS_LISTEN: "0.0.0.0:0" };

  test("makes no key and no operator, and says what is open and how to begin", async () => {
    const folder = tempFolder();
    const served = await start(folder, OPEN);
    const notice = await noticeOf(served);
    expect(notice).not.toContain("sk-tg-");
    expect(notice).not.toContain("password");
    expect(notice).toContain(`From this one: ${served.url}\n`);
    expect(new URL(served.url).hostname).toBe("127.0.0.1");
    for (const part of [
      "/v1",
      "/console",
      "metrics on 0.0.0.0:",
      "operator create",
      "key create",
      "PUBLIC_URL",
    ]) {
      expect(notice).toContain(part);
    }
    expect(await balanceIn(folder)).toEqual([]);
    expect((await runTollgate(folder, ["key", "list", "--json"])).json().keys).toEqual([]);
    const signIn = await callConsole(served.url, "/sign-in", { email: "operator@localhost", password: "x" });
    expect(signIn.status).toBe(401);
    await stop(served);
    await runTollgate(folder, ["operator", "create", "--email", "ada@example.com"]);
    expect((await start(folder, OPEN)).stderr()).toBe("");
  });

  test("makes both when TOLLGATE_DEMO says so, with an address that can be used", async () => {
    const served = await start(tempFolder(), { ...OPEN, TOLLGATE_DEMO: "yes" });
    const notice = await noticeOf(served);
    expect(secretIn(notice)).toHaveLength(49);
    expect(passwordIn(notice)).not.toBe("");
    expect(notice).toContain(`console  ${served.url}/console\n`);
    expect(notice).not.toContain("http://0.0.0.0");
    expect((await fetch(`${served.url}/console/api/setup`)).status).toBe(200);
  });

  test("makes neither on loopback when TOLLGATE_DEMO is no", async () => {
    const folder = tempFolder();
    const served = await start(folder, { TOLLGATE_DEMO: "no" });
    expect(served.stderr()).toBe("");
    expect(await balanceIn(folder)).toEqual([]);
    const failed = await runTollgate(folder, ["serve"], { TOLLGATE_DEMO: "perhaps" });
    expect(failed.exitCode).not.toBe(0);
    expect(failed.stderr).toContain("TOLLGATE_DEMO");
  });
});

describe("a second start", () => {
  test("prints no secret and keeps keys, money and receipts", async () => {
    const folder = tempFolder();
    const first = await start(folder);
    const notice = await noticeOf(first);
    const headers = { "x-api-key": secretIn(notice) };
    const body = JSON.stringify({ model: "demo", messages: [{ role: "user", content: "Hello" }] });
    const answer = await fetch(`${first.url}/v1/chat/completions`, { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    await answer.text();
    await stop(first);
    const accounts = await balanceIn(folder);
    expect(accounts).toEqual([expect.objectContaining({ name: "demo", held_usd: "0.00" })]);
    expect(JSON.stringify(accounts)).not.toContain('"posted_usd":"5.00"');

    const second = await start(folder);
    expect(second.stderr()).toBe("");
    expect(second.stdout()).not.toContain("sk-tg-");
    expect(first.stdout()).not.toContain(passwordIn(notice));
    expect(await balanceIn(folder)).toEqual(accounts);
    const receipt = await fetch(`${second.url}/v1/receipts/${answer.headers.get("x-request-id")}`, {
      headers,
    });
    expect(await receipt.json()).toMatchObject({ state: "settled", model: "demo", outcome: "ok" });
  });

  test("on the same port fails while the first gateway runs", async () => {
    const folder = tempFolder();
    const first = await start(folder);
    const failed = await runTollgate(tempFolder(), ["serve"], { PORT: new URL(first.url).port });
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).not.toContain("sk-tg-");
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  });
});
