import { readFileSync } from "node:fs";
import { answerJobs } from "../processes.ts";

/** Begins a new period and returns the results of the previous one. */
export interface ProbeJob {
  readonly url: string;
  readonly pid: number;
}

/** Latencies of `GET /healthz` in one period, in milliseconds. */
export interface Stretch {
  /**
   * The longest latency, without the time that the gateway's main thread or the probe waited for a processor.
   */
  readonly longestMs: number;
  /** The longest latency as its client saw it. */
  readonly seenMs: number;
  readonly probes: number;
}

const PAUSE_MS = 3;
let target: ProbeJob | undefined;
let longestMs = 0;
let seenMs = 0;
let probes = 0;

void keepProbing();
answerJobs<ProbeJob>(async (job) => {
  target = job;
  const stretch: Stretch = { longestMs, seenMs, probes };
  longestMs = 0;
  seenMs = 0;
  probes = 0;
  return stretch;
});

async function keepProbing(): Promise<void> {
  for (;;) {
    await Bun.sleep(PAUSE_MS);
    if (!target) continue;
    const { url, pid } = target;
    const starved = [starvedMs(pid), starvedMs(process.pid)];
    const startedAt = performance.now();
    await fetch(`${url}/healthz`)
      .then((answer) => answer.text())
      .catch(() => undefined);
    const ms = performance.now() - startedAt;
    const lostMs = [starvedMs(pid), starvedMs(process.pid)].map(
      (each, index) => each - (starved[index] ?? 0),
    );
    longestMs = Math.max(longestMs, ms - Math.max(...lostMs));
    seenMs = Math.max(seenMs, ms);
    probes += 1;
  }
}

/** Total time that the main thread of a process has waited for a processor (Linux); 0 when it has ended. */
function starvedMs(pid: number): number {
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
    return Number(waitedNs) / 1e6;
  } catch {
    return 0;
  }
}
