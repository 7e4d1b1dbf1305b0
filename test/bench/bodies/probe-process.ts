import { answerJobs } from "../job-process.ts";

/** Begins a new stretch, and gives what the one before it was like. */
export interface ProbeJob {
  readonly url: string;
}

/** How long `GET /healthz` took while a stretch lasted, in milliseconds. */
export interface Stretch {
  readonly longestMs: number;
  readonly probes: number;
}

const PAUSE_MS = 3;
let url: string | undefined;
let longestMs = 0;
let probes = 0;
let underWaySince: number | undefined;

void keepProbing();
answerJobs<ProbeJob>(async (job) => {
  url = job.url;
  // One that is still waiting belongs to the stretch in which it began to wait.
  const waitedMs = underWaySince === undefined ? 0 : performance.now() - underWaySince;
  const stretch: Stretch = { longestMs: Math.max(longestMs, waitedMs), probes };
  longestMs = 0;
  probes = 0;
  return stretch;
});

async function keepProbing(): Promise<void> {
  for (;;) {
    await Bun.sleep(PAUSE_MS);
    if (!url) continue;
    const startedAt = performance.now();
    underWaySince = startedAt;
    await fetch(`${url}/healthz`)
      .then((answer) => answer.text())
      .catch(() => undefined);
    underWaySince = undefined;
    longestMs = Math.max(longestMs, performance.now() - startedAt);
    probes += 1;
  }
}
