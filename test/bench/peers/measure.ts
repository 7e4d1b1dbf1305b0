import { USUAL_TURN } from "../agents/conversation.ts";
import type { AgentPlay } from "../agents/play.ts";
import { type Load, startLoad } from "../contestants.ts";
import { percentilesOf } from "../measurements.ts";
import { residentMb } from "../process-stats.ts";
import { warmUp } from "../warm-up.ts";
import type { AbsentPeer, Contestant, Contestants } from "./contestants.ts";
import { type PeersCell, type PeersPlan, TOLLGATE } from "./plan.ts";
import { treeCpuUs } from "./process-tree.ts";
import { type CellResult, type ContestantRounds, type Round, summarize } from "./rates.ts";

/** Resident memory of all processes of a contestant, in MB. */
export interface Memory {
  readonly name: string;
  readonly version: string;
  /** Before any load. */
  readonly idleMb: number;
  /** The greatest value during all loads. */
  readonly loadedMb: number;
}

export interface Measured {
  readonly cells: readonly CellResult[];
  readonly memory: readonly Memory[];
  readonly absent: readonly AbsentPeer[];
  /** The answers that Tollgate must have charged. */
  readonly tollgateAnswers: number;
}

const SETTLE_MS = 1500;

export async function measure({ running, absent }: Contestants, plan: PeersPlan): Promise<Measured> {
  const load = startLoad();
  try {
    await Bun.sleep(SETTLE_MS);
    const entrants = await Promise.all(running.map(createEntrant));
    const cells: CellResult[] = [];
    for (const cell of plan.cells) cells.push(await measureCell(entrants, load, plan, cell));
    return {
      cells,
      memory: entrants.map(({ contestant: { name, version }, idleMb, loadedMb }) => {
        return { name, version, idleMb, loadedMb };
      }),
      absent,
      tollgateAnswers: entrants.find(({ contestant }) => contestant.name === TOLLGATE)?.answers ?? 0,
    };
  } finally {
    await load.stop();
  }
}

/** A contestant with what is counted over all loads. */
interface Entrant {
  readonly contestant: Contestant;
  readonly idleMb: number;
  loadedMb: number;
  answers: number;
}

async function createEntrant(contestant: Contestant): Promise<Entrant> {
  const idleMb = await residentMb(contestant.pid);
  return { contestant, idleMb, loadedMb: idleMb, answers: 0 };
}

/** What one contestant does in one cell. */
interface Attempt {
  readonly entrant: Entrant;
  readonly cell: PeersCell;
  readonly rounds: Round[];
  fault: string | undefined;
}

/** Measures all contestants alternately, in several short rounds. */
async function measureCell(
  entrants: readonly Entrant[],
  load: Load,
  plan: PeersPlan,
  cell: PeersCell,
): Promise<CellResult> {
  const attempts: Attempt[] = [];
  for (const entrant of entrants) attempts.push(await beginAttempt(entrant, load, plan, cell));
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const attempt of rotate(attempts, round)) {
      if (attempt.fault !== undefined) continue;
      const { fault, ...figures } = await runRound(attempt.entrant, load, attempt.cell);
      attempt.fault = fault;
      attempt.rounds.push(figures);
    }
  }
  const named = attempts.map(({ entrant, rounds, fault }) => ({
    name: entrant.contestant.name,
    rounds,
    fault,
  }));
  return summarize(cell, named);
}

/** Warms a contestant up, and gives slow contestants longer rounds. */
async function beginAttempt(
  entrant: Entrant,
  load: Load,
  { warmUpMs, answersMin }: PeersPlan,
  cell: PeersCell,
): Promise<Attempt> {
  const { fault, perSecond } = await warmUp(async () => {
    const round = await runRound(entrant, load, { ...cell, roundMs: warmUpMs });
    return round.fault === undefined ? round : { ...round, cpuUs: Number.NaN };
  });
  const neededMs = (1000 * answersMin * cell.connections) / perSecond;
  const roundMs = Math.min(Math.max(cell.roundMs, neededMs), ROUND_MS_MAX);
  return { entrant, cell: { ...cell, roundMs }, rounds: [], fault };
}

const ROUND_MS_MAX = 15_000;

/** Lets each round begin with another contestant. */
function rotate<Item>(items: readonly Item[], by: number): Item[] {
  const at = by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}

/** A contestant that does not answer for this long is stopped. */
const SILENT_MS_MAX = 60_000;

async function runRound(
  entrant: Entrant,
  load: Load,
  { kind, connections, roundMs }: PeersCell,
): Promise<Round & Pick<ContestantRounds, "fault">> {
  const { pid, target, model, stop } = entrant.contestant;
  const tooLate = setTimeout(stop, roundMs + SILENT_MS_MAX);
  const sampling = setInterval(() => sampleMemory(entrant), SAMPLE_MS);
  const beforeUs = treeCpuUs(pid);
  const startMs = performance.now();
  const job = { target, model, connections, ms: roundMs };
  const loop = kind === "agent" ? playAgent(load, job) : load.closedLoop({ ...job, kind });
  const { answers, faults, latencyMs } = await loop.catch(unanswered);
  // The last answers of slow contestants come long after the end of the round.
  const perSecond = (1000 * answers) / (performance.now() - startMs);
  clearTimeout(tooLate);
  clearInterval(sampling);
  entrant.answers += answers;
  const cpuUs = (treeCpuUs(pid) - beforeUs) / answers;
  return { perSecond, p99Ms: latencyMs.p99, cpuUs, fault: faults[0] };
}

/** Each connection repeats one request of an agent. */
async function playAgent(load: Load, job: Pick<AgentPlay, "target" | "model" | "connections" | "ms">) {
  const turns = [USUAL_TURN];
  const result = await load.playAgents({ ...job, format: "chat", stream: false, turns, renews: false });
  return { ...result, latencyMs: percentilesOf(result.latenciesMs.flat()) };
}

/** The result of a loop whose connections could not be opened. */
function unanswered({ message }: Error) {
  return { answers: 0, faults: [message], latencyMs: { p50: Number.NaN, p99: Number.NaN } };
}

const SAMPLE_MS = 200;

function sampleMemory(entrant: Entrant): void {
  residentMb(entrant.contestant.pid).then(
    (mb) => {
      entrant.loadedMb = Math.max(entrant.loadedMb, mb);
    },
    // A process of the contestant has ended meanwhile.
    () => undefined,
  );
}
