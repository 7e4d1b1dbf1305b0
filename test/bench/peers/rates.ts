import { medianOf } from "../measurements.ts";
import { AIMS, type Aim, type PeersCell, PROXY, TOLLGATE } from "./plan.ts";

/** One closed loop. */
export interface Round {
  readonly perSecond: number;
  readonly p99Ms: number;
  /** CPU time of all processes of the contestant per answer, in microseconds. */
  readonly cpuUs: number;
}

/** The rounds of one contestant, in the order of all contestants' rounds. */
export interface ContestantRounds {
  readonly name: string;
  readonly rounds: readonly Round[];
  /** What was wrong with an answer. Its rounds then count for nothing. */
  readonly fault: string | undefined;
}

export interface CellResult extends Pick<PeersCell, "kind" | "connections"> {
  readonly rows: readonly Row[];
}

/** Medians over the rounds. Ratios are medians of the ratios of each round. */
export interface Row extends Round {
  readonly name: string;
  readonly fault: string | undefined;
  /** Answers per second, compared with those of the bare proxy. */
  readonly byProxy: number;
  readonly byTollgate: number;
  /** CPU time per answer, compared with that of the bare proxy. */
  readonly cpuByProxy: number;
  readonly cpuByTollgate: number;
}

/** Ratios to a contestant that could not be measured are NaN. */
export function summarize(
  { kind, connections }: PeersCell,
  records: readonly ContestantRounds[],
): CellResult {
  const proxy = roundsOf(records, PROXY);
  const tollgate = roundsOf(records, TOLLGATE);
  const rows = records.map(({ name, rounds, fault }) => ({
    name,
    fault,
    perSecond: medianOf(rounds.map((round) => round.perSecond)),
    p99Ms: medianOf(rounds.map((round) => round.p99Ms)),
    cpuUs: medianOf(rounds.map((round) => round.cpuUs)),
    byProxy: ratioOf(rounds, proxy, "perSecond"),
    byTollgate: ratioOf(rounds, tollgate, "perSecond"),
    cpuByProxy: ratioOf(rounds, proxy, "cpuUs"),
    cpuByTollgate: ratioOf(rounds, tollgate, "cpuUs"),
  }));
  return { kind, connections, rows };
}

function roundsOf(records: readonly ContestantRounds[], wanted: string): readonly Round[] {
  const { rounds = [], fault } = records.find(({ name }) => name === wanted) ?? {};
  return fault === undefined ? rounds : [];
}

/** Compares rounds that ran one after the other, so that other load of the machine affects both. */
function ratioOf(rounds: readonly Round[], others: readonly Round[], figure: keyof Round): number {
  return medianOf(rounds.map((round, at) => round[figure] / (others[at]?.[figure] ?? Number.NaN)));
}

/** An aim, and Tollgate's answers per second compared with the peer's. */
export interface AimResult extends Aim {
  /** `undefined` for a peer that could not be measured. */
  readonly ratio: number | undefined;
}

export function compareWithAims(cells: readonly CellResult[]): AimResult[] {
  return AIMS.map((aim) => {
    const cell = cells.find(({ kind, connections }) => kind === aim.kind && connections === aim.connections);
    const row = cell?.rows.find(({ name, fault }) => name === aim.peer && fault === undefined);
    return { ...aim, ratio: row && 1 / row.byTollgate };
  });
}
