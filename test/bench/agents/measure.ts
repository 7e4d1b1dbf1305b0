import { type Rate, type Ratios, rateOf, ratiosOf } from "../gateway/throughput.ts";
import { type Percentiles, percentilesOf } from "../measurements.ts";
import { cpuUs } from "../process-stats.ts";
import { alternate } from "../rounds.ts";
import { warmUp } from "../warm-up.ts";
import type { AgentCell, TimedGroup } from "./plan.ts";
import type { AgentPlayResult } from "./play.ts";
import { type AgentContestants, modelName } from "./start-contestants.ts";

/** The gateway divided by the bare proxy, which forwards the same requests. */
export interface AgentCellResult extends Pick<AgentCell, "name">, Ratios {
  readonly proxy: Rate;
  readonly gateway: Rate;
  /** All answers of the gateway, warm-up included. */
  readonly answers: number;
  readonly turns: readonly TurnResult[];
}

/** Latencies in ms of one turn of a conversation. */
export interface TurnResult {
  readonly turn: number;
  readonly proxy: Percentiles;
  readonly gateway: Percentiles;
}

/** One of the servers of a group: the proxy, or the gateway as one cell uses it. */
interface Contestant {
  readonly pid: number;
  readonly url: string;
  readonly secret: string;
  readonly model: string;
  readonly renews: boolean;
  readonly hasArrows: boolean;
  answers: number;
}

/** Measures proxy and cells in turns. Every second round has the reverse order. */
export async function measureGroup(
  { proxy, gateway, load }: AgentContestants,
  group: TimedGroup,
): Promise<readonly AgentCellResult[]> {
  const { rounds, roundMs, warmUpMs, turns, cells } = group;
  const isConversation = turns.length > 1;
  const contestants: Contestant[] = [
    { ...proxy, secret: "", model: modelName("chat"), renews: isConversation, hasArrows: false, answers: 0 },
    ...cells.map(({ model, renews = false, hasArrows = false }) => ({
      ...gateway,
      model: modelName(model),
      renews,
      hasArrows,
      answers: 0,
    })),
  ];

  async function run(contestant: Contestant, ms: number) {
    const { pid, url, secret, model, renews, hasArrows } = contestant;
    const { format, stream, connections } = group;
    const beforeUs = cpuUs(pid);
    const result = await load.playAgents({
      target: { url, secret },
      format,
      stream,
      connections,
      turns,
      model,
      renews,
      hasArrows,
      ms,
    });
    if (result.faults.length > 0) throw new Error(`${model} from ${format}: ${result.faults.join("; ")}`);
    contestant.answers += result.answers;
    return {
      ...result,
      latencyMs: percentilesOf(result.latenciesMs.flat()),
      cpuUs: (cpuUs(pid) - beforeUs) / result.answers,
    };
  }

  for (const contestant of contestants) await warmUp(() => run(contestant, warmUpMs));
  const [bare = [], ...ours] = await alternate(contestants, rounds, (contestant) => run(contestant, roundMs));
  return cells.map(({ name }, at) => {
    const own = ours[at] ?? [];
    return {
      name,
      proxy: rateOf(bare),
      gateway: rateOf(own),
      ...ratiosOf(own, bare),
      answers: contestants[at + 1]?.answers ?? 0,
      turns: turns.map((turn, index) => ({
        turn,
        proxy: latencyOf(bare, index),
        gateway: latencyOf(own, index),
      })),
    };
  });
}

/** Percentiles of one turn over all rounds. */
function latencyOf(rounds: readonly AgentPlayResult[], index: number): Percentiles {
  return percentilesOf(rounds.flatMap(({ latenciesMs }) => latenciesMs[index] ?? []));
}
