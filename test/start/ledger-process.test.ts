import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runTollgate } from "../cli/run-tollgate.ts";
import {
  type LedgerProcess,
  type ServedProcess,
  serveLedgerProcess,
  startBesideLedger,
  startServedProcess,
} from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";
import { readSamples } from "../telemetry/samples.ts";

interface Books {
  readonly ledger: LedgerProcess;
  /** The folder of the ledger process, with its database. */
  readonly folder: string;
}

/** The ledger of the tests that only read. */
let shared: Books;
beforeAll(async () => {
  shared = await openBooks();
});
/** Every ledger of this file. */
const opened: LedgerProcess[] = [];
afterAll(() => Promise.all(opened.map(close)));

let gateway: ServedProcess | undefined;
afterEach(async () => {
  await close(gateway);
  gateway = undefined;
});

async function openBooks(): Promise<Books> {
  const folder = tempFolder();
  const ledger = await serveLedgerProcess({ folder });
  opened.push(ledger);
  return { ledger, folder };
}

async function close(running: LedgerProcess | ServedProcess | undefined): Promise<void> {
  running?.signal("SIGKILL");
  await running?.exitCode;
}

function tokenOfLedger({ folder } = shared): string {
  return readFileSync(join(folder, "data/ledger-token"), "utf8").trim();
}

/** The environment of another process that uses this ledger. */
function remote(more: Record<string, string> = {}, books = shared): Record<string, string> {
  return { LEDGER_URL: `grpc://${books.ledger.address}`, LEDGER_TOKEN: tokenOfLedger(books), ...more };
}

const run = (environment: Record<string, string>, ...commandLine: string[]) =>
  runTollgate(tempFolder(), commandLine, environment);

async function ask(secret: string): Promise<Response> {
  return fetch(`${gateway?.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": secret },
    body: JSON.stringify({ model: "demo", messages: [{ role: "user", content: "Hello" }] }),
  });
}

describe("a gateway with LEDGER_URL", () => {
  test("books money in the ledger process, and loses no charge when that process restarts", async () => {
    const books = await openBooks();
    const { folder } = books;
    let { ledger } = books;
    const elsewhere = tempFolder();
    gateway = await startBesideLedger({ folder: elsewhere, environment: remote({}, books) });
    const { stderr } = gateway;
    const findSecret = () => /sk-tg-[\w-]{43}/.exec(stderr())?.[0];
    await until(() => findSecret() !== undefined);
    const secret = findSecret() ?? "";
    const answer = await ask(secret);
    expect(answer.status).toBe(200);
    await answer.text();
    const receipt = await fetch(`${gateway.url}/v1/receipts/${answer.headers.get("x-request-id")}`, {
      headers: { "x-api-key": secret },
    });
    expect(await receipt.json()).toMatchObject({ state: "settled", outcome: "ok" });
    const audited = await runTollgate(folder, ["audit", "--json"]);
    expect(audited.json()).toMatchObject({ ok: true, wallets: 1, holds: 1 });

    ledger.signal("SIGTERM");
    expect(await ledger.exitCode).toBe(0);
    expect((await ask(secret)).status).toBe(500);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    ledger = await serveLedgerProcess({ folder, environment: { LEDGER_LISTEN: ledger.address } });
    opened.push(ledger);
    await until(async () => (await ask(secret)).status === 200);
    gateway.signal("SIGTERM");
    expect(await gateway.exitCode).toBe(0);
    expect(gateway.stdout()).not.toContain(tokenOfLedger(books));
  });
});

describe("a gateway without LEDGER_URL", () => {
  test("serves its own ledger to other processes", async () => {
    const environment = { LEDGER_LISTEN: "127.0.0.1:0", LEDGER_TOKEN: "a-token-that-both-know" };
    gateway = await startServedProcess({ folder: tempFolder(), environment });
    const address = /"ledger":"([^"]+)"/.exec(gateway.stdout())?.[1];
    const asOther = { LEDGER_URL: `grpc://${address}`, LEDGER_TOKEN: environment.LEDGER_TOKEN };
    const created = await run(asOther, "account", "create", "--name", "acme", "--json");
    expect(created.json()).toMatchObject({ available_usd: "0.00" });
    gateway.signal("SIGTERM");
    expect(await gateway.exitCode).toBe(0);
  });
});

describe("the command line with LEDGER_URL", () => {
  test("books money in the remote ledger", async () => {
    const books = await openBooks();
    const database = { DATABASE_URL: `sqlite:${join(tempFolder(), "accounts.db")}` };
    const environment = remote(database, books);
    const created = await run(environment, "account", "create", "--name", "acme", "--json");
    expect(created.json()).toMatchObject({ name: "acme", available_usd: "0.00" });
    const topUp = ["topup", "--account", "acme", "--amount", "7.50", "--id", "wire", "--json"];
    expect((await run(environment, ...topUp)).json()).toMatchObject({
      available_usd: "7.50",
      replayed: false,
    });
    expect((await run(environment, ...topUp)).json()).toMatchObject({
      available_usd: "7.50",
      replayed: true,
    });
    const key = ["key", "create", "--account", "acme", "--name", "k", "--spending-limit", "5.00", "--json"];
    expect((await run(environment, ...key)).json()).toMatchObject({ spending_limit: { amount_usd: "5.00" } });
    expect((await runTollgate(books.folder, ["audit", "--json"])).json()).toMatchObject({
      wallets: 1,
      transfers: 1,
    });
  });

  test("rejects the audit, which needs the database of the ledger", async () => {
    const audited = await run(remote(), "audit", "--json");
    expect(audited).toMatchObject({ exitCode: 1, stdout: "" });
    expect(audited.stderr).toBe(
      "LEDGER_URL names another ledger: run this where the database of that ledger is.\n",
    );
  });

  test("reports a wrong token in one sentence without quoting it", async () => {
    const LEDGER_TOKEN = "canary-canary-canary";
    const failed = await run(remote({ LEDGER_TOKEN }), "account", "create", "--name", "acme");
    expect(failed).toMatchObject({ exitCode: 1, stdout: "" });
    expect(failed.stderr).toBe("The ledger does not accept this token or certificate.\n");
  });

  test("checks the connection to the ledger", async () => {
    const check = async (more: Record<string, string>) => (await run(remote(more), "check", "--json")).json();
    expect(await check({})).toMatchObject({ ok: true, problems: [], ledger: shared.ledger.address });
    expect((await check({ LEDGER_TOKEN: "canary-canary-canary" })).problems).toEqual([
      "LEDGER_TOKEN: is rejected, expected the token of that ledger",
    ]);
    expect((await check({ LEDGER_URL: "grpc://127.0.0.1:1" })).problems).toEqual([
      expect.stringMatching(
        /^LEDGER_URL: does not answer, expected a ledger that is ready, with or without TLS/,
      ),
    ]);
  });
});

describe("the ledger process", () => {
  test("stores a token in its data folder, and logs no token", () => {
    expect(tokenOfLedger()).toMatch(/^[\w-]{43}$/);
    const { ledger } = shared;
    expect(ledger.stdout() + ledger.stderr()).not.toContain(tokenOfLedger());
  });

  test("ends on SIGTERM", async () => {
    const { ledger } = await openBooks();
    ledger.signal("SIGTERM");
    expect(await ledger.exitCode).toBe(0);
    expect(ledger.stdout()).toContain('"stopped"');
  });

  test.each([
    ["on a port that is taken", () => ({ LEDGER_LISTEN: shared.ledger.address })],
    ["with LEDGER_LISTEN off", () => ({ LEDGER_LISTEN: "off" })],
    ["with LEDGER_URL", () => remote({ LEDGER_LISTEN: "127.0.0.1:0" })],
  ])("does not start %s", async (_, environment) => {
    const failed = await run(environment(), "ledger");
    expect(failed).toMatchObject({ exitCode: 1 });
    expect(failed.stderr).toMatch(/^[^\n]*LEDGER_[^\n]*\n$/);
  });
});

describe("the ledger with TLS", () => {
  let secured: LedgerProcess | undefined;
  afterEach(() => close(secured));

  test("accepts a client certificate of its authority, and no other connection", async () => {
    const certificates = makeCertificates();
    const { LEDGER_TLS_CA } = certificates;
    const LEDGER_TOKEN = "a-token-that-both-know";
    const environment = { ...certificates, LEDGER_TOKEN };
    secured = await serveLedgerProcess({ folder: tempFolder(), environment });
    const LEDGER_URL = `grpcs://localhost:${secured.address.split(":").at(-1)}`;
    const check = async (more: Record<string, string>) =>
      (await run({ LEDGER_URL, LEDGER_TOKEN, ...more }, "check", "--json")).json().problems;
    const plain = { LEDGER_URL: LEDGER_URL.replace("grpcs", "grpc") };
    // A busy machine may answer the check too late.
    await until(async () => Bun.deepEquals(await check(certificates), []));
    const others = await Promise.all([{ LEDGER_TLS_CA }, {}, plain].map(check));
    expect(others).toEqual(Array(3).fill([expect.stringMatching(/^LEDGER_/)]));
  });
});

/** Creates an authority and a certificate for "localhost". Returns the variables that name their files. */
function makeCertificates() {
  const cwd = tempFolder();
  const openssl = (...options: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(["openssl", ...options], { cwd, stderr: "pipe" });
    if (exitCode !== 0) throw new Error(`openssl failed: ${stderr}`);
  };
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  openssl("req", "-x509", ...curve, "-keyout", "ca-key.pem", "-out", "ca.pem", "-subj", "/CN=authority");
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const authority = ["-CA", "ca.pem", "-CAkey", "ca-key.pem"];
  openssl("req", "-x509", ...curve, ...authority, "-keyout", "key.pem", "-out", "cert.pem", ...names);
  return {
    LEDGER_TLS_CA: join(cwd, "ca.pem"),
    LEDGER_TLS_CERT: join(cwd, "cert.pem"),
    LEDGER_TLS_KEY: join(cwd, "key.pem"),
  };
}

describe("the metrics of a ledger process", () => {
  test("are served on METRICS_LISTEN, and nowhere without it", async () => {
    expect(shared.ledger.stdout()).not.toContain('"metrics"');
    const environment = { METRICS_LISTEN: "127.0.0.1:0" };
    const other = await serveLedgerProcess({ folder: tempFolder(), environment });
    try {
      const [, address] = /"metrics":"([^"]+)"/.exec(other.stdout()) ?? [];
      let text = "";
      // A scrape that reads the holds for too long leaves them out.
      await until(async () => {
        text = await (await fetch(`http://${address}/metrics`)).text();
        return readSamples(text).get("tollgate_ledger_open_holds") === 0;
      });
      expect(text).toContain('role="ledger"');
      // Nothing here takes requests.
      expect(text).not.toContain("tollgate_requests_total");
    } finally {
      other.signal("SIGTERM");
      expect(await other.exitCode).toBe(0);
    }
  });
});
