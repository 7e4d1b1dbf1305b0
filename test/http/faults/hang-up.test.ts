import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { CHAT, post } from "../../support/client.ts";
import { answerWith } from "../../support/scripted-answers.ts";
import { HANG_UPS, type HangUp, reading } from "./hang-ups.ts";
import { type Cell, cellsOf, startWorld, type World } from "./world.ts";

/** What the issue promises: the upstream is let go, and the slot and the rest of the hold are free. */
const UPSTREAM_MS_MAX = 100;
const BOOKS_MS_MAX = 1_000;

let world: World;
beforeAll(async () => {
  world = await startWorld(HANG_UPS);
  // What is measured below does not begin by starting the counting worker.
  await warmUp(world);
});
afterAll(() => world.stop());

describe("a client that hangs up", () => {
  // One after another, because the time that each takes is measured.
  test.each(HANG_UPS.flatMap((scene) => cellsOf(scene)).map((cell) => [cell.id, cell] as const))(
    "%s: is let go of everywhere, and pays what it should",
    async (_id, cell) => {
      const { secret, key } = await world.gateway.newPayer("1", { limits: { concurrentRequests: 1 } });
      const payer = { secret, accountId: key.accountId };
      const controller = new AbortController();
      const options = { secret, model: cell.id, stream: cell.mode === "stream", signal: controller.signal };
      const pending = post(world.gateway, cell.surface, options);
      const ended = pending.then(readOn(cell)).catch(() => "aborted");
      await hasCome(() => isThere(cell));
      // What was sent until then is worked off before the clock starts: megabytes of it, in some scenes.
      await Bun.sleep(reading.has(cell.id) ? 200 : 20);
      expect((await world.gateway.balances(payer.accountId)).held).toBeGreaterThan(0n);
      const hungUpAtMs = Date.now();
      controller.abort();

      expect(await ended).toBe("aborted");
      await expectUpstreamFreed(cell, hungUpAtMs);
      await expectAllFree(payer, hungUpAtMs);
      await expectBooks(cell, payer);
      expect((await post(world.gateway, cell.surface, { secret })).status).toBe(200);
    },
  );
});

/** A local count waits for its worker. */
async function warmUp({ gateway }: World): Promise<void> {
  gateway.upstream.on(CHAT.model, answerWith({ text: "one" }));
  await (await post(gateway, CHAT)).text();
}

const shown = new Map<string, string>();

/** Reads to the end, and notes what was read so far. */
function readOn({ id }: Cell<HangUp>) {
  return async (response: Response) => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      shown.set(id, (shown.get(id) ?? "") + decoder.decode(bytes, { stream: true }));
    }
    return "read to the end";
  };
}

/** Whether the moment has come to which the scene leads. */
function isThere({ id, scene }: Cell<HangUp>): boolean {
  if (scene.hasRead) return lastWordOf(scene.hasRead).test(shown.get(id) ?? "");
  if (scene.status === 0) return world.gateway.upstream.seen.some(({ model }) => model === id);
  return reading.has(id);
}

function lastWordOf(text: string): RegExp {
  return new RegExp(`${text.split(" ").at(-1)}"`);
}

async function hasCome(condition: () => boolean | Promise<boolean>, untilMs = Date.now() + 20_000) {
  while (!(await condition())) {
    if (Date.now() > untilMs) throw new Error("It did not come in time");
    await Bun.sleep(2);
  }
}

async function expectUpstreamFreed({ id }: Cell<HangUp>, hungUpAtMs: number): Promise<void> {
  const { seen } = world.gateway.upstream;
  const calls = seen.filter(({ model }) => model?.startsWith(id));
  expect(calls.map(({ model }) => model)).toEqual([id]);
  await calls[0]?.over;
  expect((calls[0]?.hungUpAtMs ?? Number.NaN) - hungUpAtMs).toBeWithin(-1, UPSTREAM_MS_MAX);
}

interface Payer {
  readonly secret: string;
  readonly accountId: string;
}

async function expectAllFree({ secret, accountId }: Payer, hungUpAtMs: number): Promise<void> {
  const isFree = async () => {
    const response = await fetch(`${world.gateway.url}/v1/key`, { headers: { "x-api-key": secret } });
    const { concurrent_requests } = (await response.json()) as { concurrent_requests: { used: number } };
    return concurrent_requests.used === 0 && (await world.gateway.balances(accountId)).held === 0n;
  };
  await hasCome(isFree, hungUpAtMs + BOOKS_MS_MAX);
}

async function expectBooks({ id, surface, scene }: Cell<HangUp>, { accountId }: Payer): Promise<void> {
  const { gateway } = world;
  const charge = scene.charge[surface.name];
  const { items } = await gateway.tollgate.ledger.receipts({ walletId: accountId }, { size: 2 });
  expect(items).toHaveLength(1);
  const captured = BigInt(charge.input) * 1_000n + BigInt(charge.output) * 2_000n;
  expect(items[0]).toMatchObject({
    state: "settled",
    captured,
    outcome: {
      outcome: "client_closed",
      source: charge.source,
      upstream: id,
      attempts: [{ upstream: id, status: scene.status, ms: expect.any(Number) }],
    },
  });
  const usage = { ...NO_USAGE, inputTokens: charge.input, outputTokens: charge.output };
  expect(items[0]?.outcome?.usage).toEqual(usage);
  expect((await gateway.balances(accountId)).posted).toBe(1_000_000_000n - captured);
  const lines = () => gateway.log.about(items[0]?.holdId ?? "");
  await hasCome(() => lines().length > 0);
  expect(lines()).toMatchObject([{ event: "request", outcome: "client_closed", attempts: 1 }]);
}
