import { printRequest, type Target } from "../connection.ts";
import { exchange } from "../loops.ts";
import { createTally, type Tally } from "../measurements.ts";
import { answerJobs } from "../processes.ts";
import { faultOf } from "./answers.ts";
import type { Cell } from "./plan.ts";
import { requestOf } from "./requests.ts";

/** A closed loop: every connection sends the next request after each answer. */
export interface TranslateLoad extends Omit<Cell, "upstream" | "beside"> {
  readonly target: Target;
  readonly model: string;
  readonly connections: number;
  readonly ms: number;
}

export interface TranslateLoadResult extends Tally {
  readonly perSecond: number;
}

answerJobs<TranslateLoad>(async (load): Promise<TranslateLoadResult> => {
  const { client: format, stream, target, connections, ms } = load;
  const { path, body } = requestOf({ ...load, format });
  const request = printRequest({ ...target, path }, body);
  return exchange({
    connections,
    ms,
    tally: createTally((body) => faultOf(body, { format, stream })),
    urlOf: () => target.url,
    nextRequest: () => request,
  });
});
