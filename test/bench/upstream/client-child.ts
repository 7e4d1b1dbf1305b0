import { startJobProcess } from "../job-process.ts";
import type { ClientBursts, ClientLoop } from "./client-loads.ts";
import type { ClientJob } from "./client-process.ts";
import type { ClientResult } from "./client-tally.ts";
import type { ClientName } from "./clients.ts";

/** A client in a process of its own. Its runs throw on the first wrong answer. */
export interface ClientChild {
  readonly name: ClientName;
  loop(job: ClientLoop): Promise<ClientResult>;
  bursts(job: ClientBursts): Promise<ClientResult>;
  /** Calls so many streams that stay open; says how many of them have begun. */
  hold(count: number): Promise<number>;
  /** Waits for the end of those; says how many ended well. */
  awaitEnds(): Promise<number>;
  stop(): Promise<void>;
}

export interface ClientChildOptions {
  /** Where it sends its calls. */
  readonly url: string;
  /** A file with the certificate it is to trust. */
  readonly authorityFile?: string;
  /** As many calls at a time as Bun allows when it is not told otherwise. */
  readonly isCapped?: boolean;
}

export function startClient(name: ClientName, options: ClientChildOptions): ClientChild {
  const { perform, stop } = startJobProcess<ClientJob>("upstream/client-process.ts", {
    args: [name, options.url],
    environment: environmentOf(options),
  });

  async function run(job: ClientJob): Promise<ClientResult> {
    // Safe because client-process.ts answers these jobs with such a result.
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
