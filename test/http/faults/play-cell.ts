import { expect } from "bun:test";
import { post } from "../../support/client.ts";
import { expectAttempts } from "./expect-attempts.ts";
import { expectBooks } from "./expect-books.ts";
import { expectRead } from "./expect-read.ts";
import type { Expected } from "./fault.ts";
import { answers, expectationOf } from "./outcomes.ts";
import { secrets } from "./speak.ts";
import type { Cell, World } from "./world.ts";

/** What one request came to, as its client and the test see it. */
export interface Played {
  readonly cell: Cell;
  readonly response: Response;
  /** The whole body. */
  readonly body: string;
  readonly ms: number;
  readonly payer: { readonly accountId: string; readonly secret: string };
  /** What the first route does. */
  readonly first: Expected;
  /** What the client sees: the same, unless the second route answered. */
  readonly last: Expected;
}

/** Sends one request into a fault and checks everything that came of it. */
export async function playCell(world: World, cell: Cell): Promise<void> {
  const { gateway } = world;
  const { secret, key } = await gateway.newPayer("1", { limits: { concurrentRequests: 1 } });
  const startedAt = performance.now();
  const response = await post(gateway, cell.surface, {
    secret,
    model: cell.id,
    stream: cell.mode === "stream",
  });
  const body = await response.text();
  const ms = performance.now() - startedAt;
  const first = expectationOf(cell.scene.expected, cell);
  const last = first.movesOn && cell.routes === 2 ? expectationOf(RESCUED, cell) : first;
  const played = { cell, response, body, ms, payer: { accountId: key.accountId, secret }, first, last };

  await expectRead(played);
  await expectBooks(gateway, played);
  await expectAttempts(gateway, played);
  await expectFree(world, played);
}

/** What the reserve says: its text is another's than the first route's. */
const RESCUED = answers({ text: "Hello there, friend." }, { source: "reported", input: 11, output: 7 });

/** The only slot of the key is free, nothing is on hold, and the next request gets in. */
async function expectFree({ gateway }: World, { cell, payer }: Played): Promise<void> {
  const { accountId, secret } = payer;
  expect((await gateway.balances(accountId)).held).toBe(0n);
  const key = await fetch(`${gateway.url}/v1/key`, { headers: { "x-api-key": secret } });
  expect(await key.json()).toMatchObject({ concurrent_requests: { limit: 1, used: 0 } });
  const next = await post(gateway, cell.surface, { secret });
  expect(next.status).toBe(200);
  secrets.expectNone(await next.text());
}
