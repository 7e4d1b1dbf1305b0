import { within } from "../time.ts";

/** How long an answer is given to others who ask; an open route must not load what it asks. */
const SHARED_MS = 500;
/** What takes longer to answer is not there. */
const ANSWER_MAX_MS = 2_000;

/** Whether everything answers that requests need, asked once for all who ask at about the same time. */
export function createReadiness(probes: readonly (() => Promise<void>)[]): () => Promise<boolean> {
  let latest: { readonly atMs: number; readonly answer: Promise<boolean> } | undefined;
  return () => {
    const nowMs = performance.now();
    if (!latest || nowMs - latest.atMs >= SHARED_MS) latest = { atMs: nowMs, answer: askAll(probes) };
    return latest.answer;
  };
}

function askAll(probes: readonly (() => Promise<void>)[]): Promise<boolean> {
  const answers = Promise.all(probes.map((probe) => probe())).then(
    () => true,
    () => false,
  );
  return within(ANSWER_MAX_MS, answers, () => false);
}
