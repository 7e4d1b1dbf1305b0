import { CREDIT_SOURCES } from "../../../src/domain/credit.ts";
import { LedgerError } from "../../../src/ledger/ledger.ts";
import { drawInteger, drawOne } from "../../support/seeded-random.ts";
import type { World } from "../world.ts";
import { checkAvailable } from "./check.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** How long credits can be spent: most of them end while requests run. */
const LIVES_MS = [
  Number.POSITIVE_INFINITY,
  5_000,
  20_000,
  MINUTE_MS,
  2 * MINUTE_MS,
  6 * MINUTE_MS,
  DAY_MS / 24,
  DAY_MS,
  3 * DAY_MS,
];
const AMOUNTS = [20_000n, 300_000n, 2_000_000n, 50_000_000n];
const CORRECTION_MAX = 400_000;
/** Larger corrections take all that is posted as well. */
const DEBT_FROM = 200_000n;
/** How far from an end a gateway may die. */
const NEAR_MS = 100;

/** Grants the first credits of a wallet. */
export async function grantFirstCredits(world: World, walletId: string): Promise<void> {
  if (!world.hasCredits) return;
  for (let number = drawInteger(world.scheduler.draw, 1, 8); number > 0; number -= 1)
    await grant(world, walletId);
}

/** May grant a credit, or take something off. */
export function strikeCredits(world: World): void {
  const { luck, scheduler, hasCredits } = world;
  if (!hasCredits) return;
  const { walletId } = drawOne(scheduler.draw, world.keys);
  if (luck.strikes("credit_granted")) void grant(world, walletId);
  if (luck.strikes("correction")) void correct(world, walletId);
}

/** Grants a credit, unless its end comes before the ledger decides. */
async function grant(world: World, walletId: string): Promise<void> {
  const { scheduler, model } = world;
  const { draw } = scheduler;
  const amount = drawOne(draw, AMOUNTS);
  const lifeMs = drawOne(draw, LIVES_MS);
  const expiresAtMs =
    lifeMs === Number.POSITIVE_INFINITY ? undefined : Math.floor(scheduler.wallMs()) + lifeMs;
  const topUpId = `credit ${scheduler.steps} ${draw()}`;
  const request = { walletId, topUpId, amount, source: drawOne(draw, CREDIT_SOURCES), expiresAtMs };
  if (lifeMs <= 2 * MINUTE_MS) watchEnd(world, walletId, lifeMs);
  const isGranted = await world.command("an operator grants a credit", ({ ledger }) =>
    ledger.topUp(request).then(() => true, isTooLate),
  );
  if (isGranted) model.topUp(walletId, amount);
}

function isTooLate(fault: unknown): false {
  if (fault instanceof LedgerError && fault.code === "invalid_credit") return false;
  throw fault;
}

/** Around the end of a credit, a reader looks at its wallet, and a gateway may die. */
function watchEnd(world: World, walletId: string, lifeMs: number): void {
  const { scheduler, luck } = world;
  const { draw } = scheduler;
  const atMs = lifeMs + (draw() - 0.5) * NEAR_MS;
  scheduler.after(atMs, "a credit ends about now", () => {
    void checkAvailable(world, walletId);
    const [victim] = world.alive();
    if (victim && luck.strikes("death_at_an_end")) world.kill(victim.machine);
  });
}

/** What is posted, when it is above zero. */
function postedOf({ credits }: World, walletId: string): bigint {
  const posted = credits.wallets.get(walletId)?.posted ?? 0n;
  return posted > 0n ? posted : 0n;
}

/** Takes money off a wallet, often from one of its credits. */
async function correct(world: World, walletId: string): Promise<void> {
  const { scheduler, credits, model } = world;
  const { draw } = scheduler;
  const lots = credits.wallets.get(walletId)?.lots ?? [];
  const creditId = draw() < 0.6 && lots.length > 0 ? drawOne(draw, lots).id : undefined;
  const drawn = BigInt(drawInteger(draw, 1, CORRECTION_MAX));
  // Some leave a debt, which the next credits pay.
  const amount = -(drawn > DEBT_FROM ? drawn + postedOf(world, walletId) : drawn);
  const topUpId = `correction ${scheduler.steps} ${draw()}`;
  model.topUp(walletId, amount);
  await world.command("an operator takes money off", ({ ledger }) =>
    ledger.topUp({ walletId, topUpId, amount, creditId }),
  );
}

/** Sweeps of a ledger, some of which come too late for the ends of credits. */
export function withLateSweeps<Swept extends { sweep(): Promise<number> }>(
  { luck }: World,
  ledger: Swept,
): Swept {
  return { ...ledger, sweep: async () => (luck.strikes("sweep_missed") ? 0 : ledger.sweep()) };
}
