import { afterEach, beforeEach, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { runTollgate } from "../cli/run-tollgate.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { until } from "../support/until.ts";
import { readSamples } from "../telemetry/samples.ts";
import { openProcessFixture, type ProcessFixture } from "./process-fixture.ts";

const SETTINGS = "drain_s: 1\nconsole: { sign_up: open }";
const PASSWORD = "correct horse battery";
/** A stop ends within the drain limit and 10 s; the rest is for a busy machine. */
const STOP_MS_MAX = 45_000;

let fixture: ProcessFixture;
let closers: (() => unknown)[];
beforeEach(async () => {
  closers = [];
  fixture = await openProcessFixture(SETTINGS);
});
afterEach(async () => {
  for (const close of closers) await close();
  await fixture.close();
});

/** A browser on the console of a process. */
function openBrowser(origin: string) {
  let cookie = "";
  const send = async (method: string, path: string, body?: unknown) => {
    const headers = { "sec-fetch-site": "same-origin", "content-type": "application/json", cookie };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${origin}/console/api${path}`, { method, headers, ...sent });
    cookie = answer.headers.getSetCookie()[0]?.split(";", 1)[0] ?? cookie;
    return answer;
  };
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await send(method, path, body);
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
    // biome-ignore lint/suspicious/noExplicitAny: a test checks what it reads.
    return (await answer.json()) as any;
  };
  return { send, ask };
}

test("who may sign up follows the configuration file, and a wrong value changes nothing", async () => {
  const gateway = await fixture.serve();
  const browser = openBrowser(gateway.url);
  const policy = async () => (await browser.ask("GET", "/setup")).sign_up;
  const signUp = async (email: string) => {
    const answer = await openBrowser(gateway.url).send("POST", "/sign-up", {
      name: "A",
      email,
      password: PASSWORD,
    });
    return answer.status;
  };
  expect([await policy(), await signUp("a@example.com")]).toEqual(["open", 200]);
  fixture.configure("console: { sign_up: closed }");
  await until(async () => (await policy()) === "closed");
  expect(await signUp("b@example.com")).toBe(403);
  fixture.configure("console: { sign_up: everybody }");
  await until(() => gateway.stdout().includes("configuration rejected"));
  expect([await policy(), await signUp("c@example.com")]).toEqual(["closed", 403]);
  fixture.configure("console: { sign_up: open }");
  await until(async () => (await policy()) === "open");
  expect(await signUp("b@example.com")).toBe(200);
});

test("SIGTERM ends live and playground streams, an audit and a mail in flight, and leaves no hold", async () => {
  const smtp = await startEndlessServer();
  const environment = {
    SMTP_URL: smtp.url,
    MAIL_FROM: "noreply@tollgate.example",
    METRICS_LISTEN: "127.0.0.1:0",
  };
  const gateway = await fixture.serve({ environment });
  const { browser, account, key } = await openAccount(gateway.url);
  const live = await browser.send("GET", `/accounts/${account}/requests/live`);
  expect(live.headers.get("content-type")).toStartWith("text/event-stream");
  const { opened } = gate();
  fixture.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: opened } }));
  const order = { key, model: "chat", messages: [{ role: "user", content: "Hi" }] };
  const playground = await browser.send("POST", `/accounts/${account}/playground`, order);
  await fixture.upstream.waitForSeen(1);
  // The sign-up has ordered the mail that proves the address.
  await until(() => smtp.recipients() > 0);
  const [, metrics] = /"metrics":"([^"]+)"/.exec(gateway.stdout()) ?? [];
  // A scrape that reads the outbox for too long leaves it out.
  await until(async () => {
    const samples = readSamples(await (await fetch(`http://${metrics}/metrics`)).text());
    return samples.get('tollgate_outbox_entries{outbox="mail"}') === 1;
  });

  const operator = await openOperator(gateway.url);
  await operator.ask("POST", "/operator/audit", {});
  const startedAt = performance.now();
  gateway.signal("SIGTERM");
  const [rows, chat] = await Promise.all([live.text(), playground.text()]);
  expect(rows).not.toContain("event: error");
  expect(chat).toContain("event: error");
  expect(await gateway.exitCode).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(STOP_MS_MAX);
  expect(gateway.stdout()).toContain('"stopped"');
  for (const { held_usd } of (await fixture.accounts()) as { held_usd: string }[])
    expect(held_usd).toBe("0.00");
});

/** Signs up, with 5 USD and a key. */
async function openAccount(url: string) {
  const browser = openBrowser(url);
  const given = { name: "Ann", email: "ann@example.com", account_name: "ann", password: PASSWORD };
  await browser.ask("POST", "/sign-up", given);
  const account = String((await browser.ask("GET", "/me")).accounts[0].id);
  await runTollgate(fixture.folder, ["topup", "--account", "ann", "--amount", "5", "--id", "seed"]);
  const issued = await browser.ask("POST", `/accounts/${account}/keys`, { name: "k" });
  return { browser, account, key: String(issued.key.id) };
}

async function openOperator(url: string) {
  const create = ["operator", "create", "--email", "ops@example.com", "--json"];
  const { one_time_password: password } = (await runTollgate(fixture.folder, create)).json();
  const browser = openBrowser(url);
  await browser.ask("POST", "/sign-in", { email: "ops@example.com", password });
  await browser.ask("POST", "/me/password", { current: password, password: PASSWORD });
  return browser;
}

/** A mail server that takes a login and a recipient, and then says that it will go on, for ever. */
async function startEndlessServer() {
  let recipients = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.write("220 mail.example ESMTP\r\n");
    socket.on("data", (chunk) => {
      const command = chunk.toString().slice(0, 4).toUpperCase();
      if (command !== "RCPT") return void socket.write("250 fine\r\n");
      recipients += 1;
      const timer = setInterval(() => socket.write("250-wait\r\n"), 500);
      socket.on("close", () => clearInterval(timer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { url: `smtp://127.0.0.1:${port}`, recipients: () => recipients };
}
