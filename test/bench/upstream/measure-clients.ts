import { medianOf, type Percentiles } from "../measurements.ts";
import { startJobProcess } from "../processes.ts";
import type { ClientBursts, ClientLoop, ClientResult } from "./client-load.ts";
import type { ClientJob } from "./client-process.ts";
import type { ClientName } from "./clients.ts";
import { BURST, CLIENT_CELLS, type ClientCell, type UpstreamPlan } from "./plan.ts";
import { STREAM_MS } from "./wire-answers.ts";
import type { WireUpstream } from "./wire-upstream.ts";

/** Medians over the rounds of one load and client. */
export interface ClientFigures {
  readonly client: ClientName;
  readonly perSecond: number;
  readonly cpuUs: number;
  /**
   * Ratio of its CPU time to that of fetch; median of consecutive rounds, so that other load affects both.
   */
  readonly cpuByFetch: number;
  /** Time to the first event of a stream, or to the end of a whole answer. */
  readonly ms: Percentiles;
  readonly peakMb: number;
  /** Connections opened per answer, after all calls have begun. */
  readonly socketsEach: number;
}

export interface ClientCellResult extends ClientCell {
  readonly clients: readonly ClientFigures[];
}

/** Whole answers in bursts. */
export interface ClientBurstResult {
  readonly tls: boolean;
  readonly clients: readonly ClientFigures[];
}

/** The wire upstream, and the path of its certificate. */
export interface ClientTargets {
  readonly upstream: WireUpstream;
  readonly authorityFile: string;
}

const NAMES: readonly ClientName[] = ["fetch", "node:http", "undici"];

export async function measureClientCells(
  targets: ClientTargets,
  { rounds, roundMs, steadyMs, warmUpMs }: UpstreamPlan,
): Promise<ClientCellResult[]> {
  const results: ClientCellResult[] = [];
  for (const cell of CLIENT_CELLS) {
    const [spreadMs, ms] = cell.kind === "stream" ? [STREAM_MS, steadyMs] : [0, roundMs];
    const loop = { ...cell, spreadMs, ms };
    const middle = { fromMs: spreadMs + ms / 4, ms: ms / 2 };
    const clients = await runRounds(targets, cell.tls, {
      warmUp: (client) => client.loop({ ...loop, ms: warmUpMs }),
      run: (client) => runAndCount(targets, middle, client.loop(loop)),
      rounds,
    });
    results.push({ ...cell, clients });
  }
  return results;
}

export async function measureClientBursts(
  targets: ClientTargets,
  { rounds, burstsPerRound }: UpstreamPlan,
): Promise<ClientBurstResult[]> {
  const { upstream } = targets;
  const results: ClientBurstResult[] = [];
  for (const tls of [false, true]) {
    const burst = (client: ClientProcess) => client.bursts({ ...BURST, count: burstsPerRound });
    const run = async (client: ClientProcess): Promise<Round> => {
      const before = await upstream.counts();
      const result = await burst(client);
      const { sockets } = await upstream.counts();
      return { ...result, socketsEach: (sockets - before.sockets) / result.answers };
    };
    results.push({ tls, clients: await runRounds(targets, tls, { warmUp: burst, run, rounds }) });
  }
  return results;
}

interface Round extends ClientResult {
  readonly socketsEach: number;
}

/** Counts connections in the middle of a run, without those that fill the pool at first. */
async function runAndCount(
  { upstream }: ClientTargets,
  { fromMs, ms }: { readonly fromMs: number; readonly ms: number },
  running: Promise<ClientResult>,
): Promise<Round> {
  const count = async () => {
    await Bun.sleep(fromMs);
    const before = await upstream.counts();
    await Bun.sleep(ms);
    return (await upstream.counts()).sockets - before.sockets;
  };
  const [result, sockets] = await Promise.all([running, count()]);
  return { ...result, socketsEach: sockets / ((result.perSecond * ms) / 1000) };
}

interface Runs {
  readonly warmUp: (client: ClientProcess) => Promise<ClientResult>;
  readonly run: (client: ClientProcess) => Promise<Round>;
  readonly rounds: number;
}

/** Starts new clients, so that none has memory of another load, and runs them alternately. */
async function runRounds(
  { upstream, authorityFile }: ClientTargets,
  tls: boolean,
  { warmUp, run, rounds }: Runs,
): Promise<ClientFigures[]> {
  const options: ClientChildOptions = tls
    ? { url: upstream.secureUrl, authorityFile }
    : { url: upstream.plainUrl };
  const clients = NAMES.map((name) => startClient(name, options));
  const byClient = new Map<ClientName, Round[]>(NAMES.map((name) => [name, []]));
  try {
    for (const client of clients) await warmUp(client);
    for (let round = 0; round < rounds; round += 1) {
      for (const client of clients) byClient.get(client.name)?.push(await run(client));
    }
  } finally {
    await Promise.all(clients.map((client) => client.stop()));
  }
  const baseline = byClient.get("fetch") ?? [];
  return NAMES.map((name) => figuresOf(name, byClient.get(name) ?? [], baseline));
}

function figuresOf(client: ClientName, rounds: readonly Round[], baseline: readonly Round[]): ClientFigures {
  const medianBy = (read: (round: Round, index: number) => number) => medianOf(rounds.map(read));
  return {
    client,
    perSecond: medianBy((round) => round.perSecond),
    cpuUs: medianBy((round) => round.cpuUs),
    cpuByFetch: medianBy((round, index) => round.cpuUs / (baseline[index]?.cpuUs ?? Number.NaN)),
    ms: { p50: medianBy(({ ms }) => ms.p50), p99: medianBy(({ ms }) => ms.p99) },
    peakMb: Math.max(...rounds.map((round) => round.peakMb)),
    socketsEach: medianBy((round) => round.socketsEach),
  };
}

/** A client in a process of its own. Its runs throw on the first wrong answer. */
export interface ClientProcess {
  readonly name: ClientName;
  loop(job: ClientLoop): Promise<ClientResult>;
  bursts(job: ClientBursts): Promise<ClientResult>;
  /** Opens streams that stay open. Returns how many have begun. */
  hold(count: number): Promise<number>;
  /** Waits for their end. Returns how many succeeded. */
  awaitEnds(): Promise<number>;
  stop(): Promise<void>;
}

export interface ClientChildOptions {
  /** The base URL of its calls. */
  readonly url: string;
  /** The path of a certificate to trust. */
  readonly authorityFile?: string;
  /** Whether Bun's default limit of concurrent calls applies. */
  readonly isCapped?: boolean;
}

export function startClient(name: ClientName, options: ClientChildOptions): ClientProcess {
  const { perform, stop } = startJobProcess<ClientJob>("upstream/client-process.ts", {
    args: [name, options.url],
    environment: environmentOf(options),
  });

  async function run(job: ClientJob): Promise<ClientResult> {
    // Safe because client-process.ts answers these jobs with this type.
    const result = (await perform(job)) as ClientResult;
    if (result.faults.length > 0) throw new Error(`${name} got wrong answers: ${result.faults.join("; ")}`);
    if (result.answers === 0) throw new Error(`${name} got no answers`);
    return result;
  }

  return {
    name,
    loop: (job) => run({ do: "loop", ...job }),
    bursts: (job) => run({ do: "bursts", ...job }),
    hold: async (count) => Number(await perform({ do: "hold", count })),
    awaitEnds: async () => Number(await perform({ do: "await_ends" })),
    stop,
  };
}

function environmentOf({ authorityFile, isCapped }: ClientChildOptions): NodeJS.ProcessEnv {
  const { BUN_CONFIG_MAX_HTTP_REQUESTS: _, ...rest } = process.env;
  return {
    ...rest,
    ...(isCapped ? {} : { BUN_CONFIG_MAX_HTTP_REQUESTS: "65535" }),
    ...(authorityFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: authorityFile }),
  };
}
