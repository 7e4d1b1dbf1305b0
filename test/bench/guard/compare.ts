import type { Form } from "../form.ts";
import type { Ratios } from "../gateway/throughput.ts";
import {
  type AgentsLine,
  type HistoryCell,
  type HistoryLine,
  type KeptLine,
  type Machine,
  machineKind,
  printCommit,
} from "../history/line.ts";

/** A cell may be worse than the kept one by this share. */
const WORSE_MAX = 0.15;

/** One measured cell. */
export type MeasuredCell = Pick<HistoryCell, "kind" | "connections" | "ratio" | "cpuRatio">;
type MeasuredAgentCell = Ratios & { readonly name: string };

/** Returns the newest run of this form that was kept on a machine of this kind, or `undefined`. */
export function findKept<Line extends KeptLine>(
  lines: readonly Line[],
  machine: Machine,
  form: Form,
): Line | undefined {
  return lines.findLast(
    (line) =>
      !line.isQuick &&
      machineKind(line.machine) === machineKind(machine) &&
      line.form.database === form.database &&
      line.form.hasRedis === form.hasRedis,
  );
}

/**
 * Returns what is worse than in the kept run by more than {@link WORSE_MAX}: more CPU time per request, or a
 * lower rate, both divided by the proxy's. A cell that the kept run lacks is not compared.
 */
export function findWorse(kept: HistoryLine, cell: MeasuredCell): readonly string[] {
  const before = kept.throughput.find(
    ({ kind, connections }) => kind === cell.kind && connections === cell.connections,
  );
  return before ? compare(`${cell.kind} answers, ${cell.connections} connections`, before, cell, kept) : [];
}

/** Returns what is worse for requests of agents, as {@link findWorse} does. */
export function findWorseOfAgents(kept: AgentsLine, cell: MeasuredAgentCell): readonly string[] {
  const before = kept.agents.cells.find(({ name }) => name === cell.name);
  return before ? compare(`agents, ${cell.name}`, before, cell, kept) : [];
}

function compare(place: string, before: Ratios, now: Ratios, { commit, date }: KeptLine): readonly string[] {
  const more = now.cpuRatio / before.cpuRatio - 1;
  const less = 1 - now.ratio / before.ratio;
  const since = `at ${printCommit(commit)}, ${date.slice(0, 10)}`;
  const bound = `at most ${percent(WORSE_MAX)} is allowed`;
  return [
    ...(more > WORSE_MAX
      ? [
          `${place}: CPU per request is ${now.cpuRatio.toFixed(2)} times the proxy's, ` +
            `${percent(more)} more than the ${before.cpuRatio.toFixed(2)} ${since}; ${bound}`,
        ]
      : []),
    ...(less > WORSE_MAX
      ? [
          `${place}: the rate is ${now.ratio.toFixed(3)} of the proxy's, ` +
            `${percent(less)} less than the ${before.ratio.toFixed(3)} ${since}; ${bound}`,
        ]
      : []),
  ];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
