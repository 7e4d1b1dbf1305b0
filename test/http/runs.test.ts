import { describe, expect, test } from "bun:test";
import type { IssuedKey } from "../../src/accounts/keys/keys.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { ERRORS } from "../../src/errors.ts";
import type { SpendLimit } from "../../src/ledger/records.ts";
import { CHAT, post } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { until } from "../support/until.ts";

const gateway = gatewayForTests();

const run = (text: string) => ({ "x-tollgate-run": text });

/** A limit for the account of a key. */
function setLimit(
  { key }: IssuedKey,
  limit: Omit<SpendLimit, "walletId" | "keyId" | "period">,
): Promise<void> {
  const all = { walletId: key.accountId, keyId: undefined, period: "total" } as const;
  return gateway.tollgate.ledger.setSpendLimit({ ...all, ...limit });
}

async function limitsOf({ key }: IssuedKey) {
  return gateway.tollgate.ledger.spendLimits(key.accountId);
}

/** The most that the default request of these tests may cost. */
async function neededBy(payer: IssuedKey, headers: Record<string, string> = {}): Promise<bigint> {
  const declined = await post(gateway, CHAT, {
    secret: payer.secret,
    max_tokens: 1_000,
    headers: { ...headers, "x-tollgate-max-cost-usd": "0" },
  });
  return parseUsd(declined.headers.get("x-tollgate-needed-usd") ?? "");
}

const ask = ({ secret }: IssuedKey, headers: Record<string, string>) =>
  post(gateway, CHAT, { secret, max_tokens: 1_000, headers });

describe("a run", () => {
  test("of a header gets its limit at first sight, and keeps the first one", async () => {
    const payer = await gateway.newPayer("100");
    expect((await ask(payer, run("job-1; max=2.00"))).status).toBe(200);
    expect((await ask(payer, run("job-1;max=50"))).status).toBe(200);
    expect((await ask(payer, run("job-1"))).status).toBe(200);
    const { id } = payer.key;
    expect(await limitsOf(payer)).toMatchObject([
      {
        limitId: expect.stringContaining(`run:${id}:job-1:`),
        scope: { kind: "run", id: `${id}:job-1` },
        period: "total",
        amount: parseUsd("2.00"),
      },
    ]);
  });

  test("without a limit is a scope on the receipt alone", async () => {
    const payer = await gateway.newPayer("100");
    const answer = await ask(payer, run("plain.run_1"));
    const { scopes } = await gateway.receiptOf(answer, payer.key.accountId);
    expect(scopes).toEqual([{ kind: "run", id: `${payer.key.id}:plain.run_1` }]);
    expect(await limitsOf(payer)).toEqual([]);
  });

  test("that has spent its limit ends in a 402 that names it, while another run goes on", async () => {
    const payer = await gateway.newPayer("100");
    const needed = await neededBy(payer);
    const limit = `; max=0.${String(needed + 1n).padStart(9, "0")}`;
    expect((await ask(payer, run(`one${limit}`))).status).toBe(200);
    for (let times = 0; times < 5; times += 1) {
      const declined = await ask(payer, run("one"));
      expect(declined.headers.get("x-tollgate-limit")).toBe("run one");
      const message = "What is left of this run's spending limit is less than this request may cost.";
      await expectError(declined, CHAT, "spending_limit_short", { message });
    }
    expect((await ask(payer, run(`two${limit}`))).status).toBe(200);
    expect((await ask(payer, {})).status).toBe(200);
  });

  test("of one key is none of another key of the account", async () => {
    const payer = await gateway.newPayer("100");
    const other = await gateway.newKey({ accountId: payer.key.accountId });
    expect((await ask(payer, run("shared; max=0"))).status).toBe(402);
    expect((await ask(other, run("shared"))).status).toBe(200);
    const asked = await ask(other, run(`${payer.key.id}:shared`));
    await expectError(asked, CHAT, "wrong_header", {
      message: "The request has a header that is not valid: x-tollgate-run",
    });
  });

  test("of another form is refused under the name of the header", async () => {
    const wrong = [
      "",
      ";",
      "; max=1",
      "a b",
      "a/b",
      "é",
      "x".repeat(65),
      "x".repeat(8_000),
      "a;",
      "a; max=",
      "a; max=NaN",
      "a; max=-1",
      "a; max=1e3",
      "a; max=0.0000000001",
      "a; max=1; max=2",
      "a; min=1",
      "a, b",
    ];
    const { message } = ERRORS.wrong_header;
    for (const text of wrong) {
      const refused = await post(gateway, CHAT, { headers: run(text) });
      await expectError(refused, CHAT, "wrong_header", {
        message: `${message.replace(".", "")}: x-tollgate-run`,
      });
    }
  });

  test("of 300 requests at a time never spends more than its limit", async () => {
    const payer = await gateway.newPayer("100");
    gateway.upstream.on("chat", answerWith(undefined, { delayMs: 5 }));
    const answers = await Promise.all(
      Array.from({ length: 300 }, () =>
        ask(payer, run("swarm; max=0.05")).then(async (answer) => {
          await answer.text();
          return answer;
        }),
      ),
    );
    const [limit] = await limitsOf(payer);
    expect(limit).toMatchObject({ amount: parseUsd("0.05"), held: 0n });
    expect(limit?.used).toBeLessThanOrEqual(parseUsd("0.05"));
    const statuses = new Map(Map.groupBy(answers, ({ status }) => status));
    expect([...statuses.keys()].toSorted()).toEqual([200, 402]);
    for (const declined of statuses.get(402) ?? []) {
      expect(declined.headers.get("x-tollgate-limit")).toBe("run swarm");
    }
    const { posted } = await gateway.balances(payer.key.accountId);
    expect(parseUsd("100") - posted).toBe(limit?.used ?? -1n);
  });
});

describe("a 402 names the limit", () => {
  const used = { amount: 0n } as const;

  test("of an end user by the text that was sent, encoded where it is not visible ASCII", async () => {
    const payer = await gateway.newPayer("100");
    await setLimit(payer, { limitId: "users", each: "end_user", ...used });
    const declined = await post(gateway, CHAT, { secret: payer.secret, user: 'Zoë 100% "x"' });
    expect(declined.headers.get("x-tollgate-limit")).toBe('end_user Zo%C3%AB%20100%25%20"x"');
    expect((await post(gateway, CHAT, { secret: payer.secret })).status).toBe(200);
  });

  test("of the account, and of the key by its name", async () => {
    const payer = await gateway.newPayer("100");
    const named = await gateway.newKey({
      accountId: payer.key.accountId,
      name: "research key",
      spendingLimit: { amount: 0n, period: "day" },
    });
    const ofKey = await ask(named, {});
    expect(ofKey.headers.get("x-tollgate-limit")).toBe("key research%20key");
    await setLimit(payer, { limitId: "all", ...used });
    const ofAccount = await ask(payer, {});
    expect(ofAccount.headers.get("x-tollgate-limit")).toBe("account");
  });

  test("and a wallet without money names none", async () => {
    const payer = await gateway.newPayer("0");
    const declined = await ask(payer, {});
    expect(declined.headers.get("x-tollgate-limit")).toBeNull();
    await expectError(declined, CHAT, "wallet_empty");
  });

  test("and declines of one end user, remembered or not, refuse no other", async () => {
    const payer = await gateway.newPayer("100");
    const needed = await neededBy(payer);
    await setLimit(payer, { limitId: "users", each: "end_user", amount: needed });
    const as = (user: string) => ask(payer, { "x-tollgate-user": user });
    expect((await as("alice")).status).toBe(200);
    for (let times = 0; times < 6; times += 1) expect((await as("alice")).status).toBe(402);
    expect((await as("bob")).status).toBe(200);
    expect((await ask(payer, {})).status).toBe(200);
  });
});

test("the console explains a refusal by the limit that refused, and lists what held its money", async () => {
  const payer = await gateway.newPayer("100");
  await setLimit(payer, { limitId: "users", each: "end_user", amount: 5n });
  const declined = await post(gateway, CHAT, { secret: payer.secret, user: "alice" });
  expect(declined.status).toBe(402);
  const { findRefusal } = await import("../../src/refusals/reads.ts");
  const id = declined.headers.get("x-request-id") ?? "";
  const { database } = gateway.tollgate;
  const find = () => findRefusal(database, id, payer.key.accountId);
  await until(async () => (await find()) !== undefined);
  expect((await find())?.request.spendingLimit).toEqual({
    limitId: "users",
    scope: { kind: "end_user", id: "alice" },
  });
});
