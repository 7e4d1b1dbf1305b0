import { caseOf } from "./cases/fuzz-case.ts";
import { shrink } from "./cases/steps.ts";
import { type CaseTrace, findLedgerProblems, traceOf } from "./env/check-ledger.ts";
import { type FuzzEnv, startFuzzEnv } from "./env/fuzz-env.ts";
import { type CaseRange, type CaseResult, playCase, runCases } from "./env/play-cases.ts";

/** The result of a run through a gateway. */
export interface FuzzResult {
  /** Wrong cases, the first ones minimised, and problems of the ledger. */
  readonly violations: readonly string[];
  readonly counts: ReturnType<typeof createCounts>;
  readonly perSecond: number;
  /** Resident memory after a fifth of the cases and after all, each after a full collection. */
  readonly memoryMb: { readonly early: number; readonly late: number };
}

const LANES = 32;
const SHRUNK_MAX = 3;
const PRINTED_MAX = 20;

/** Plays a range of cases through a gateway of its own, and then checks its ledger. */
export async function runFuzz({ seed, first, count }: CaseRange, lanes = LANES): Promise<FuzzResult> {
  const env = await startFuzzEnv(lanes);
  const counts = createCounts();
  const traces: CaseTrace[] = [];
  const violation: CaseResult[] = [];
  const note = (seen: CaseResult) => {
    counts.add(seen);
    const trace = traceOf(seen);
    if (trace) traces.push(trace);
    else if (violation.length < PRINTED_MAX) violation.push(seen);
  };
  const startedAt = performance.now();
  const early = Math.ceil(count / 5);
  await runCases(env, { seed, first, count: early }, note);
  const earlyMb = restingMb();
  await runCases(env, { seed, first: first + early, count: count - early }, note);
  const seconds = (performance.now() - startedAt) / 1000;
  const lateMb = restingMb();
  const ledgerProblems = await findLedgerProblems(env, traces, violation);
  const small = await shrinkAll(env, violation);
  await env.stop();
  return {
    violations: [...small.map(printViolation), ...ledgerProblems.slice(0, PRINTED_MAX)],
    counts,
    perSecond: count / seconds,
    memoryMb: { early: earlyMb, late: lateMb },
  };
}

async function shrinkAll(env: FuzzEnv, violation: readonly CaseResult[]): Promise<readonly CaseResult[]> {
  const small: CaseResult[] = [];
  for (const seen of violation.slice(0, SHRUNK_MAX)) small.push(await shrinkOne(env, seen));
  return [...small, ...violation.slice(SHRUNK_MAX)];
}

async function shrinkOne(env: FuzzEnv, seen: CaseResult): Promise<CaseResult> {
  const [lane] = env.lanes;
  if (!lane) return seen;
  let smallest = seen;
  const steps = [...seen.case.steps, ...seen.calls.flatMap(({ given }) => given.steps)];
  await shrink(steps, async (without) => {
    const again = await playCase(env, lane, caseOf({ ...seen.case.id, without }));
    if (again.violation === undefined) return false;
    smallest = again;
    return true;
  });
  return smallest;
}

function restingMb(): number {
  Bun.gc(true);
  return process.memoryUsage.rss() / 1e6;
}

const BODY_CHARS = 6_000;

/** Prints a wrong case: how to repeat it, its request, and what the upstreams got and answered. */
function printViolation({
  case: { id, client, model, body, steps },
  violation,
  status,
  calls,
}: CaseResult): string {
  return [
    `case ${id.number} of seed ${id.seed}: ${violation} (status ${status})`,
    `  ${client} to ${model}, mutations: ${steps.join(", ") || "none"}; without: ${[...id.without].join(", ") || "none"}`,
    `  body: ${clip(body.toString())}`,
    ...calls.flatMap(({ format, body: sent, given: { answer, endless, steps: made } }) => {
      const { body: answerBody, ...how } = answer;
      return [
        `  sent as ${format}: ${clip(sent)}`,
        `  answered (${made.join(", ") || "no mutations"}) ${JSON.stringify({ ...how, endless })}: ${clip(Buffer.from(answerBody).toString())}`,
      ];
    }),
  ].join("\n");
}

/** Counts results by client and kind of upstream, which shows how deep a run went. */
function createCounts() {
  const counts = new Map<string, number>();
  return {
    add({ case: { client, model }, reading, violation, status }: CaseResult): void {
      const failure = reading?.ended === "failed" ? `${reading.row.code} ${status}` : "finished";
      const key = `${client} to ${model.split("-")[0]}: ${violation === undefined ? failure : "WRONG"}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    of: (key: string) => counts.get(key) ?? 0,
    print: () =>
      [...counts]
        .sort(([one], [other]) => one.localeCompare(other))
        .map(([key, count]) => `${String(count).padStart(8)}  ${key}`)
        .join("\n"),
  };
}

function clip(text: string): string {
  return text.length <= BODY_CHARS ? text : `${text.slice(0, BODY_CHARS)}… (${text.length} characters)`;
}
