import type { FlakyCount } from "./flaky-server.ts";
import type { StormConditions, UpstreamName } from "./plan.ts";

export type FlakyOrder =
  | { readonly goDown: UpstreamName }
  | { readonly comeUp: UpstreamName }
  | { readonly count: true }
  | { readonly listAnswered: true };

export type FlakyAnswer =
  | { readonly ports: Readonly<Record<string, number>> }
  | { readonly counts: readonly FlakyCount[] }
  | { readonly answered: Answered };

/** Per upstream, the numbers of the requests that it answered completely, once per answer. */
export type Answered = Readonly<Record<string, readonly number[]>>;

/** Three upstreams in one child process that fail in every way. */
export interface FlakyUpstreams {
  /** "http://127.0.0.1:PORT" */
  url(name: UpstreamName): string;
  /** Stops listening at the address of the upstream. */
  goDown(name: UpstreamName): void;
  comeUp(name: UpstreamName): void;
  /** The sum over all three. One call at a time. */
  count(): Promise<FlakyCount>;
  answered(): Promise<Answered>;
  stop(): Promise<void>;
}

const START_MS = 120_000;
const CHILD = `${import.meta.dir}/flaky-process.ts`;

export async function startFlakyUpstreams(conditions: StormConditions): Promise<FlakyUpstreams> {
  let answered = Promise.withResolvers<FlakyAnswer>();
  const child = Bun.spawn([process.execPath, CHILD, JSON.stringify(conditions)], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc: (answer: FlakyAnswer) => answered.resolve(answer),
    onExit: () => answered.reject(new Error("The flaky upstreams ended")),
  });
  // The process may end while nothing waits for its answer.
  answered.promise.catch(() => {});
  const tooLate = setTimeout(() => answered.reject(new Error("The flaky upstreams did not start")), START_MS);
  const started = await answered.promise.finally(() => clearTimeout(tooLate));
  const ports = "ports" in started ? started.ports : {};
  const order = (what: FlakyOrder) => child.send(what);
  const ask = (what: FlakyOrder) => {
    answered = Promise.withResolvers();
    order(what);
    return answered.promise;
  };
  return {
    url: (name) => `http://127.0.0.1:${ports[name]}`,
    goDown: (name) => order({ goDown: name }),
    comeUp: (name) => order({ comeUp: name }),
    async count() {
      const answer = await ask({ count: true });
      const counts = "counts" in answer ? answer.counts : [];
      const sum = (what: keyof FlakyCount) => counts.reduce((total, count) => total + count[what], 0);
      return { underWay: sum("underWay"), openSockets: sum("openSockets") };
    },
    async answered() {
      const answer = await ask({ listAnswered: true });
      return "answered" in answer ? answer.answered : {};
    },
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}
