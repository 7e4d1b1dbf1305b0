import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LimitUsage } from "../../../src/limiter/limiter.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import type { Answer, CallerSettings, Command, Line, Load, Report, Tally } from "./commands.ts";
import type { Admission, LoadResult } from "./load-result.ts";

/** Processes with callers of one key, each with its own limiter. */
export interface LoadGroup {
  readonly replicas: number;
  begin(load: LoadRequest): LoadRun;
  /** Returns the usage of a key by one of the limiters; `undefined` while Redis is down. */
  usage(names: Pick<Load, "accountId" | "keyId">): Promise<LimitUsage | undefined>;
  /** Kills one process with SIGKILL. */
  kill(process: number): Promise<void>;
  close(): Promise<void>;
}

/** `callers` is the number of callers of each process. */
export type LoadRequest = Omit<Load, "path" | "accountId" | "keyId"> &
  Partial<Pick<Load, "accountId" | "keyId">>;

export interface LoadRun {
  readonly names: Pick<Load, "accountId" | "keyId">;
  readonly beganAtMs: number;
  /** Returns the latest progress of each living process. */
  tallies(): readonly Tally[];
  admitted(): number;
  /** Returns the admissions written so far. */
  admissions(): readonly Admission[];
  /** Ends the load and resolves when nothing runs any more. Killed processes do not report. */
  end(): Promise<LoadResult>;
}

const START_MS = 120_000;
const CHILD = `${import.meta.dir}/load-process.ts`;
const NOTHING: Tally = { admitted: 0, sharedAtMs: 0, unsharedAtMs: 0 };

/** Starts `size` processes, by default one per replica. */
export async function startLoadGroup(settings: CallerSettings, size = settings.replicas): Promise<LoadGroup> {
  const processes = await Promise.all(Array.from({ length: size }, () => startCallers(settings)));
  const alive = () => processes.filter(({ isAlive }) => isAlive());
  return {
    replicas: settings.replicas,
    begin(load) {
      const { accountId = crypto.randomUUID(), keyId = crypto.randomUUID() } = load;
      const folder = tempFolder();
      const pathOf = (index: number) => join(folder, `${index}.log`);
      const runs = processes.map((each, index) =>
        each.begin({ ...load, accountId, keyId, path: pathOf(index) }),
      );
      const admissions = () => processes.flatMap((_, index) => readAdmissions(pathOf(index), index));
      return {
        names: { accountId, keyId },
        beganAtMs: Date.now(),
        tallies: () => runs.flatMap(({ tally }, index) => (processes[index]?.isAlive() ? [tally()] : [])),
        admitted: () => runs.reduce((sum, { tally }) => sum + tally().admitted, 0),
        admissions,
        async end() {
          const reports = await Promise.all(
            runs.flatMap(({ end }, index) => (processes[index]?.isAlive() ? [end()] : [])),
          );
          return { admissions: admissions(), reports };
        },
      };
    },
    async usage(names) {
      return alive()[0]?.usage(names);
    },
    async kill(index) {
      await processes[index]?.kill();
    },
    async close() {
      await Promise.all(processes.map(({ kill }) => kill()));
    },
  };
}

/** Resolves when an ended load has no slot any more; throws when it still has one after `maxMs`. */
export async function untilIdle(group: LoadGroup, { names }: LoadRun, maxMs: number): Promise<void> {
  const deadline = performance.now() + maxMs;
  for (;;) {
    const usage = await group.usage(names);
    if (usage?.running === 0) return;
    if (performance.now() > deadline)
      throw new Error(`Slots are stuck: ${usage?.running ?? "Redis is away"}`);
    await Bun.sleep(20);
  }
}

/** Starts one process that takes commands and answers them. */
async function startCallers(settings: CallerSettings) {
  let waiting: ((answer: Answer) => void)[] = [];
  let tally = NOTHING;
  const child = Bun.spawn([process.execPath, CHILD, JSON.stringify(settings)], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc(answer: Answer) {
      if ("tally" in answer) tally = answer.tally;
      else for (const take of waiting) take(answer);
    },
  });
  const answered = <Value>(read: (answer: Answer) => Value | undefined): Promise<Value> => {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const take = (answer: Answer) => {
      const value = read(answer);
      if (value === undefined) return;
      waiting = waiting.filter((each) => each !== take);
      resolve(value);
    };
    waiting.push(take);
    void child.exited.then(() => reject(new Error("A load process ended before it answered")));
    return promise;
  };
  const send = (what: Command) => child.send(what);
  const tooLate = Bun.sleep(START_MS).then(() => Promise.reject(new Error("A load process did not start")));
  await Promise.race([answered((answer) => ("ready" in answer ? true : undefined)), tooLate]);
  return {
    isAlive: () => child.exitCode === null && child.signalCode === null,
    begin(load: Load) {
      tally = NOTHING;
      send({ begin: load });
      return {
        tally: () => tally,
        end(): Promise<Report> {
          send({ end: true });
          return answered((answer) => ("report" in answer ? answer.report : undefined));
        },
      };
    },
    async usage(names: Pick<Load, "accountId" | "keyId">): Promise<LimitUsage | undefined> {
      send({ usage: names });
      const { usage } = await answered((answer) => ("usage" in answer ? answer : undefined));
      return usage;
    },
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Ignores a last line that was cut by a kill. */
function readAdmissions(path: string, process: number): readonly Admission[] {
  const admissions = new Map<number, Admission>();
  for (const text of readWritten(path).split("\n").slice(0, -1)) {
    const line: Line = JSON.parse(text);
    const { id } = line;
    if ("endedMs" in line) {
      const begun = admissions.get(id);
      if (begun) admissions.set(id, { ...begun, endedMs: line.endedMs });
    } else
      admissions.set(id, {
        process,
        by: line.by,
        requestedMs: line.requestedMs,
        atMs: line.atMs,
        endedMs: undefined,
      });
  }
  return [...admissions.values()];
}

/** Returns "" before the file exists. */
function readWritten(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
