import type { Gateway } from "../gateway/gateway.ts";
import type { Log } from "../telemetry/log.ts";
import type { OpenFiles } from "../telemetry/open-files.ts";
import type { ConnectionIdle } from "./connection-idle.ts";
import type { CorsOrigins } from "./cors.ts";
import type { BodyBudget, IncomingBodies } from "./incoming-bodies.ts";
import type { Readiness } from "./readiness.ts";

/** The dependencies of the routes: the gateway, and the HTTP state of this process. */
export interface HttpParts {
  /** Returns the gateway under the latest configuration. A request keeps the one that it began with. */
  gateway(): Gateway;
  readonly bodyBudget: BodyBudget;
  readonly incomingBodies: IncomingBodies;
  readonly running: RunningRequests;
  /** Returns the allowed origins of the latest configuration; `undefined` when pages may read no response. */
  corsOrigins(): CorsOrigins | undefined;
  /** Resolves with the latest result of each check. */
  readiness(): Promise<Readiness>;
  isDraining(): boolean;
  readonly connectionIdle: ConnectionIdle;
  /** Answers `/console` and everything below it. `peer` is the address of the connection. */
  console(request: Request, peer: string | undefined): Promise<Response>;
}

/** Counts the model requests that are not settled: a shutdown waits for them, and each needs open files. */
export interface RunningRequests {
  /** Whether another request may begin. Costs one comparison. */
  mayBegin(): boolean;
  begin(): void;
  end(): void;
  /** Resolves when no request is running. */
  idle(): Promise<void>;
  close(): void;
}

export interface RunningRequestsOptions {
  readonly files: OpenFiles;
  readonly log: Log;
  /** Milliseconds between two counts of the open files. */
  readonly everyMs?: number;
}

/** The connections of a request to its client and to its upstream. */
const FILES_PER_REQUEST = 2;
const COUNT_EVERY_MS = 1_000;

/**
 * Counts open files every second. In between, each request that begins is taken to open two: two hundred streams
 * arrive well within a second.
 */
export function createRunningRequests({
  files,
  log,
  everyMs = COUNT_EVERY_MS,
}: RunningRequestsOptions): RunningRequests {
  let count = 0;
  let countMax = Number.POSITIVE_INFINITY;
  let refused = 0;
  let isRefusing = false;
  let waiting: (() => void)[] = [];

  function countFiles(): void {
    countMax = count + Math.max(0, Math.floor(files.room() / FILES_PER_REQUEST));
    if (refused > 0 && !isRefusing) log.warn({ files: files.max, refused }, "open files nearly used up");
    if (refused === 0 && isRefusing) log.info({}, "open files free again");
    isRefusing = refused > 0;
    refused = 0;
  }
  const timer = files.max === undefined ? undefined : setInterval(countFiles, everyMs);
  timer?.unref();
  countFiles();

  return {
    mayBegin() {
      if (count < countMax) return true;
      refused += 1;
      return false;
    },
    begin: () => {
      count += 1;
    },
    end: () => {
      count -= 1;
      if (count > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    },
    idle: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    close: () => clearInterval(timer),
  };
}
