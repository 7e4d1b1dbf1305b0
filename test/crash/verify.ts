import { parseUsd } from "../../src/domain/money.ts";
import type { Cluster, StoredHold } from "./cluster.ts";

/**
 * The longest time until an expired hold is swept. The sweep runs every 5 s ± 1 s, while the ledger is up.
 */
const SWEEP_MS = 7_000;
const SETTLING_MS = 30_000;

export interface Round {
  /** The start of the round in Unix milliseconds. */
  readonly sinceMs: number;
  /** How long the target was down. */
  readonly awayMs: number;
}

/** Throws unless the database holds everything as acknowledged, and the audit has no findings. */
export async function verify(cluster: Cluster, acknowledged: readonly string[], round: Round): Promise<void> {
  await until(async () => cluster.countQueued() === 0, "the outboxes are not replayed");
  const holds = await cluster.readHolds(round.sinceMs);
  const missing = acknowledged.filter((line) => !isStored(line, holds));
  if (missing.length > 0)
    throw new Error(`Acknowledged but not in the database: ${missing.slice(0, 5).join("; ")}`);
  const stuck = await cluster.countOverdue(SWEEP_MS + round.awayMs);
  if (stuck > 0) throw new Error(`${stuck} holds are open past their time`);
  const ended = cluster.programs.filter((program) => program.hasEnded());
  if (ended.length > 0)
    throw new Error(`Exited by itself: ${ended.map(({ name, output }) => name + output()).join()}`);
  await cluster.audit();
}

/** Throws unless every hold ends after its time to live. */
export function verifyNothingIsHeld(cluster: Cluster): Promise<void> {
  return until(async () => (await cluster.countOpen()) === 0, "holds are still open");
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
