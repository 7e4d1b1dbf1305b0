import { parseUsd } from "../../src/domain/money.ts";
import type { House, StoredHold } from "./cluster.ts";

/** Sweepers come every five seconds, give or take one; nobody sweeps while the ledger is away. */
const SWEEP_MS = 7_000;
const SETTLING_MS = 30_000;

export interface Round {
  /** Unix milliseconds of its begin. */
  readonly sinceMs: number;
  /** How long the victim was away. */
  readonly awayMs: number;
}

/** Throws unless everything that was acknowledged is in the books as it was acknowledged, and the books are right. */
export async function verify(house: House, acknowledged: readonly string[], round: Round): Promise<void> {
  await until(async () => house.countJournaled() === 0, "the journals are not replayed");
  const holds = await house.readHolds(round.sinceMs);
  const missing = acknowledged.filter((line) => !isStored(line, holds));
  if (missing.length > 0)
    throw new Error(`Acknowledged and not in the books: ${missing.slice(0, 5).join("; ")}`);
  const stuck = await house.countOverdue(SWEEP_MS + round.awayMs);
  if (stuck > 0) throw new Error(`${stuck} holds are open past their time`);
  const ended = house.programs.filter((program) => program.hasEnded());
  if (ended.length > 0)
    throw new Error(`Ended by itself: ${ended.map(({ name, output }) => name + output()).join()}`);
  await house.audit();
}

/** Throws unless every hold is over after its time. */
export function verifyNothingIsHeld(house: House): Promise<void> {
  return until(async () => (await house.countOpen()) === 0, "holds are still open");
}

function isStored(line: string, holds: ReadonlyMap<string, StoredHold>): boolean {
  const [kind, holdId = "", amount = "-"] = line.split(" ");
  const hold = holds.get(holdId);
  if (!hold || kind === "held") return hold !== undefined;
  if (hold.state !== "settled") return false;
  if (amount === "-") return hold.captured > 0n;
  return hold.captured === (kind === "http" ? parseUsd(amount) : BigInt(amount));
}

async function until(condition: () => Promise<boolean>, complaint: string): Promise<void> {
  const deadline = performance.now() + SETTLING_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`After ${SETTLING_MS} ms ${complaint}`);
    await Bun.sleep(100);
  }
}
