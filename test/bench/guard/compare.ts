import type { Form } from "../form.ts";
import {
  type HistoryCell,
  type HistoryLine,
  type Machine,
  machineKind,
  printCommit,
} from "../history/line.ts";

/** A cell may be worse than the kept one by this share. */
const WORSE_MAX = 0.15;

/** One measured cell. */
export type MeasuredCell = Pick<HistoryCell, "kind" | "connections" | "ratio" | "cpuRatio">;

/** Returns the newest run of this form that was kept on a machine of this kind, or `undefined`. */
export function findKept(
  lines: readonly HistoryLine[],
  machine: Machine,
  form: Form,
): HistoryLine | undefined {
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
  if (!before) return [];
  const more = cell.cpuRatio / before.cpuRatio - 1;
  const less = 1 - cell.ratio / before.ratio;
  const place = `${cell.kind} answers, ${cell.connections} connections`;
  const since = `at ${printCommit(kept.commit)}, ${kept.date.slice(0, 10)}`;
  const bound = `at most ${percent(WORSE_MAX)} is allowed`;
  return [
    ...(more > WORSE_MAX
      ? [
          `${place}: CPU per request is ${cell.cpuRatio.toFixed(2)} times the proxy's, ` +
            `${percent(more)} more than the ${before.cpuRatio.toFixed(2)} ${since}; ${bound}`,
        ]
      : []),
    ...(less > WORSE_MAX
      ? [
          `${place}: the rate is ${cell.ratio.toFixed(3)} of the proxy's, ` +
            `${percent(less)} less than the ${before.ratio.toFixed(3)} ${since}; ${bound}`,
        ]
      : []),
  ];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
