import { describe, expect, test } from "bun:test";
import { parseUsd } from "../../src/domain/money.ts";
import type { Cause } from "../../src/errors.ts";
import { CHAT, MESSAGES, post, RESPONSES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";

const gateway = gatewayForTests();

type AnySurface = Surface<"chat" | "messages" | "responses">;

/** About one cent, so that rounding to cents would show. */
const LARGE = { max_tokens: 4_000, max_output_tokens: 4_000 };

/** Sends a request with an output limit of the client, in the field of its surface. */
function ask(surface: AnySurface, secret: string, more: object = {}): Promise<Response> {
  const { max_tokens, max_output_tokens, ...rest } = { ...LARGE, ...more };
  const limit = surface.name === "responses" ? { max_output_tokens } : { max_tokens };
  return post(gateway, surface, { secret, ...limit, ...rest });
}

/** The amounts of both headers, in nano-USD. */
function amountsOf({ headers }: Response): { readonly needed: bigint; readonly available: bigint } {
  const read = (name: string) => parseUsd(headers.get(`x-tollgate-${name}-usd`) ?? "");
  return { needed: read("needed"), available: read("available") };
}

async function expectDecline(response: Response, surface: AnySurface, cause: Cause): Promise<void> {
  await expectError(response, surface, cause);
}

function limited(amount: bigint) {
  return gateway.newKey({ spendingLimit: { amount, period: "total" } });
}

async function neededBy(surface: AnySurface, more: object = {}): Promise<bigint> {
  return amountsOf(await ask(surface, (await limited(0n)).secret, more)).needed;
}

describe.each<AnySurface>([CHAT, MESSAGES, RESPONSES])("a 402 on $path", (surface) => {
  test("names the least spending limit that would admit the request", async () => {
    const needed = await neededBy(surface);
    expect(needed).toBeGreaterThan(parseUsd("0.008"));
    const { secret } = await limited(needed - 1n);
    const declined = await ask(surface, secret);
    expect(amountsOf(declined)).toEqual({ needed, available: needed - 1n });
    await expectDecline(declined, surface, "spending_limit_short");
    expect((await ask(surface, (await limited(needed)).secret)).status).toBe(200);
  });

  test("reports a spending limit as used up only when nothing is left", async () => {
    const needed = await neededBy(surface);
    const { secret } = await limited(0n);
    const declined = await ask(surface, secret);
    expect(amountsOf(declined)).toEqual({ needed, available: 0n });
    await expectDecline(declined, surface, "spending_limit");
  });

  test("reports a spending limit as on hold while running requests hold it", async () => {
    const needed = await neededBy(surface);
    const { secret } = await limited(needed + 5n);
    const held = gate();
    gateway.upstream.on(surface.model, answerWith(undefined, { gate: held.opened }));
    const first = ask(surface, secret);
    await gateway.upstream.waitForSeen(1);
    const declined = await ask(surface, secret);
    expect(amountsOf(declined)).toEqual({ needed, available: 5n });
    await expectDecline(declined, surface, "spending_limit_on_hold");
    held.open();
    expect((await first).status).toBe(200);
  });

  test("names what the wallet has and what the request needs", async () => {
    const needed = await neededBy(surface);
    const { secret } = await gateway.newPayer("0.000123");
    const declined = await ask(surface, secret);
    expect(amountsOf(declined)).toEqual({ needed, available: parseUsd("0.000123") });
    await expectDecline(declined, surface, "wallet_empty");
  });

  test("reports nothing available for an overdrawn wallet", async () => {
    const { secret, key } = await gateway.newPayer("0.000001");
    const facts = { surface: "batch", model: "chat" };
    const outcome = { outcome: "ok", source: "reported", attempts: [] } as const;
    const charge = {
      walletId: key.accountId,
      chargeId: "c1",
      keyId: key.id,
      amount: parseUsd("2"),
      facts,
      outcome,
    };
    await gateway.tollgate.ledger.charge(charge);
    expect(amountsOf(await ask(surface, secret)).available).toBe(0n);
  });

  test("that is remembered names the need of each request, and admits a smaller one", async () => {
    const [needed, more] = [
      await neededBy(surface),
      await neededBy(surface, { max_tokens: 8_000, max_output_tokens: 8_000 }),
    ];
    expect(more).toBeGreaterThan(needed);
    const { secret } = await limited(needed - 1n);
    for (let times = 0; times < 5; times += 1) await (await ask(surface, secret)).text();
    const larger = await ask(surface, secret, { max_tokens: 8_000, max_output_tokens: 8_000 });
    expect([larger.status, amountsOf(larger)]).toEqual([402, { needed: more, available: needed - 1n }]);
    const smaller = await ask(surface, secret, { max_tokens: 10, max_output_tokens: 16 });
    expect(smaller.status).toBe(200);
  });

  test("is the only error with amounts", async () => {
    const refused = await ask(surface, "sk-tg-wrong");
    expect(refused.headers.get("x-tollgate-needed-usd")).toBeNull();
    expect(refused.headers.get("x-tollgate-available-usd")).toBeNull();
  });
});

test("a 402 in a responses stream has its amounts and its own message", async () => {
  const { secret } = await limited(1n);
  const declined = await ask(RESPONSES, secret, { stream: true });
  expect(declined.status).toBe(200);
  expect(amountsOf(declined).available).toBe(1n);
  const text = await declined.text();
  expect(text).toContain('"code":"insufficient_quota"');
  expect(text).toContain("What is left of this key's spending limit is less than this request may cost.");
});
