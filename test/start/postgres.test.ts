import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { revokeKey } from "../../src/accounts/keys/keys.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { createLocation } from "../accounts/temp-storage.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { CHAT, dataOf, objectOf, post, SURFACES } from "../support/client.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { createEmptyDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";

/** 11 input tokens at 1,000 and 7 output tokens at 2,000 nano-USD: the usage that the upstream reports. */
const REPORTED = 25_000n;

describe("a gateway on PostgreSQL", () => {
  let temp: Awaited<ReturnType<typeof createLocation>>;
  let gateway: TestGateway;
  let other: TestGateway;
  beforeAll(async () => {
    temp = await createLocation("postgres");
    gateway = await startTestGateway({ database: temp.location });
    other = await startTestGateway({ database: temp.location });
  });
  afterAll(async () => {
    await gateway.stop();
    await other.stop();
    await temp.drop();
  });

  test.each(SURFACES)(
    "charges the reported usage of a request on $path, whole and streamed",
    async (surface) => {
      for (const stream of [false, true]) {
        const response = await post(gateway, surface, { stream });
        expect(response.status).toBe(200);
        await response.text();
        const receipt = await gateway.receiptOf(response);
        expect(receipt).toMatchObject({ state: "settled", captured: REPORTED, refunded: 0n });
        const { attempts } = receipt.outcome ?? {};
        expect(attempts).toMatchObject([{ status: 200 }]);
      }
      expect((await gateway.balances()).held).toBe(0n);
    },
  );

  test("reports its usage to a key", async () => {
    const spendingLimit = { amount: parseUsd("5"), period: "day" as const };
    const { secret } = await gateway.newPayer("1", { spendingLimit, models: ["chat"], allowsClamp: true });
    await (await post(gateway, CHAT, { secret })).text();
    const state = await fetch(`${gateway.url}/v1/key`, { headers: { "x-api-key": secret } });
    expect(await objectOf(state)).toMatchObject({
      models: ["chat"],
      spending_limits: [{ limit_usd: "5.00", used_usd: "0.000025" }],
      wallet: { balance_usd: "0.999975", on_hold_usd: "0.00" },
    });
  });

  test("never overspends a wallet together with another gateway", async () => {
    const { secret, key } = await gateway.newPayer("0.02");
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => post(index % 2 ? gateway : other, CHAT, { secret })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 402]));
    await Promise.all(answers.map((each) => each.text()));
    await gateway.nothingIsHeld(key.accountId);
    const { posted } = await other.balances(key.accountId);
    const charged = BigInt(statuses.filter((status) => status === 200).length) * REPORTED;
    expect(posted).toBe(parseUsd("0.02") - charged);
  });

  test("shares receipts with another gateway", async () => {
    const response = await post(other, CHAT, { secret: gateway.secret, stream: true });
    await dataOf(response);
    const id = response.headers.get("x-request-id");
    const receipt = await fetch(`${gateway.url}/v1/receipts/${id}`, {
      headers: { "x-api-key": gateway.secret },
    });
    expect(await objectOf(receipt)).toMatchObject({ state: "settled", charged_usd: "0.000025" });
  });

  test("rejects within a second a key that another gateway has revoked", async () => {
    const { key, secret } = await gateway.newKey();
    expect((await post(other, CHAT, { secret })).status).toBe(200);
    await revokeKey({ database: gateway.tollgate.database }, key.id);
    await Bun.sleep(600);
    expect((await post(other, CHAT, { secret })).status).toBe(401);
  });
});

describe("the first start on an empty PostgreSQL", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createEmptyDatabase();
  });
  const running: ServedProcess[] = [];
  afterEach(async () => {
    for (const served of running.splice(0)) {
      served.signal("SIGKILL");
      await served.exitCode;
    }
  });
  afterAll(() => database.drop());

  async function start(): Promise<ServedProcess> {
    const served = await startServedProcess({
      folder: tempFolder(),
      environment: { DATABASE_URL: database.url },
    });
    running.push(served);
    return served;
  }

  test("prints one valid key when several replicas start at once, and none at later starts", async () => {
    const replicas = await Promise.all([start(), start(), start()]);
    const printedSecrets = () => replicas.flatMap((each) => each.stderr().match(/sk-tg-[\w-]{43}/g) ?? []);
    await until(() => printedSecrets().length > 0);
    const [secret = ""] = printedSecrets();
    const body = JSON.stringify({ model: "demo", messages: [{ role: "user", content: "Hello" }] });
    for (const { url } of replicas) {
      const init = { method: "POST", headers: { "x-api-key": secret }, body };
      const answer = await fetch(`${url}/v1/chat/completions`, init);
      expect(answer.status).toBe(200);
    }
    for (const replica of replicas) replica.signal("SIGTERM");
    expect(await Promise.all(replicas.map(({ exitCode }) => exitCode))).toEqual([0, 0, 0]);
    expect(new Set(printedSecrets())).toEqual(new Set([secret]));
    expect(replicas.filter((each) => each.stderr() !== "")).toHaveLength(1);

    const run = (...commandLine: string[]) =>
      runTollgate(tempFolder(), commandLine, { DATABASE_URL: database.url });
    expect((await run("account", "list", "--json")).json().accounts).toEqual([
      expect.objectContaining({ name: "demo", held_usd: "0.00" }),
    ]);
    expect((await run("key", "list", "--json")).json().keys).toHaveLength(1);
    const later = await start();
    expect(later.stderr()).toBe("");
  });
});
