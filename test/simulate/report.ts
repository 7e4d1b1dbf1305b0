import { MISFORTUNE_NAMES, MISFORTUNES, type MisfortuneCounts, noMisfortunes } from "./misfortunes.ts";
import type { SeedResult } from "./run-seed.ts";

/** Rules that are printed in full when they are first broken. */
const RULES_MAX = 20;
/** Seeds of one rule that the summary lists. */
const SEEDS_MAX = 10;

/** A rule that was broken, and the seeds that broke it. */
interface BrokenRule {
  readonly rule: string;
  times: number;
  readonly seeds: number[];
}

/** Adds up the results of many seeds, and puts them in words. */
export class Report {
  readonly counts: MisfortuneCounts = noMisfortunes();
  readonly #total = { seeds: 0, steps: 0, requests: 0, simulatedMs: 0 };
  readonly #endings = new Map<string, number>();
  readonly #broken = new Map<string, BrokenRule>();

  /** Returns the text about a failure, unless its rule was broken before, or too many rules were. */
  add(result: SeedResult, replay: string): string | undefined {
    const { steps, requests, simulatedMs, counts, endings, failure } = result;
    this.#total.seeds += 1;
    this.#total.steps += steps;
    this.#total.requests += requests;
    this.#total.simulatedMs += simulatedMs;
    for (const name of MISFORTUNE_NAMES) this.counts[name] += counts[name];
    for (const [name, count] of endings) this.#endings.set(name, (this.#endings.get(name) ?? 0) + count);
    if (failure === undefined || !this.#isNews(result)) return undefined;
    return failureText(result, replay);
  }

  get failures(): number {
    return this.#broken.values().reduce((sum, { times }) => sum + times, 0);
  }

  /** The misfortunes that never happened. */
  missed(): readonly string[] {
    return MISFORTUNE_NAMES.filter((name) => this.counts[name] === 0);
  }

  /** One line for a long run. */
  progress(ms: number): string {
    const { seeds, requests } = this.#total;
    const { failures } = this;
    const broken = failures === 0 ? "no rule broken" : `${this.#broken.size} rules broken ${failures} times`;
    const memory = Math.round(process.memoryUsage.rss() / 2 ** 20);
    return `${duration(ms)}: ${seeds} seeds, ${requests} requests, ${this.#days()} simulated days, ${broken}, ${memory} MiB`;
  }

  /** Everything that happened, and every rule that was broken. */
  summary(ms: number): string {
    const { seeds, steps, requests } = this.#total;
    const s = ms / 1_000;
    const perDay = s / (this.#total.simulatedMs / 86_400_000);
    const endings = [...this.#endings].sort((one, other) => other[1] - one[1]);
    const line = (count: number, text: string) => `${String(count).padStart(8)} ${text}`;
    return [
      `${seeds} seeds, ${requests} requests, ${steps} steps, ${this.#days()} simulated days in ${s.toFixed(0)} s: ` +
        `${Math.round(requests / s)} requests a second, ${perDay.toFixed(2)} s a day`,
      ...MISFORTUNE_NAMES.map((name) => line(this.counts[name], MISFORTUNES[name].does)),
      ...endings.map(([name, count]) => line(count, `requests ended: ${name}`)),
      ...this.#broken.values().map(brokenText),
    ].join("\n");
  }

  #days(): string {
    return (this.#total.simulatedMs / 86_400_000).toFixed(1);
  }

  #isNews({ seed, failure }: SeedResult): boolean {
    const rule = ruleOf(failure);
    const known = this.#broken.get(rule);
    const broken = known ?? { rule, times: 0, seeds: [] };
    this.#broken.set(rule, broken);
    broken.times += 1;
    if (broken.seeds.length < SEEDS_MAX) broken.seeds.push(seed);
    return known === undefined && this.#broken.size <= RULES_MAX;
  }
}

/** What was broken, without the numbers and names of one run: failures of one rule have one text. */
export function ruleOf(failure: unknown): string {
  return String(failure)
    .replace(/\b[\da-f]{4,}(?:-[\da-f]{4,})*\b|-?\d+/g, "N")
    .replace(/\b(?:north|south|west)\b(?:, (?:north|south|west)\b)*/g, "NAME");
}

function failureText({ seed, steps, failure }: SeedResult, replay: string): string {
  const isThrown = failure instanceof Error && failure.name !== "Violation";
  return [
    `FAILED seed ${seed} at step ${steps}: ${String(failure)}`,
    ...(isThrown ? [failure.stack] : []),
    `  replay: ${replay}`,
  ].join("\n");
}

function brokenText({ rule, times, seeds }: BrokenRule): string {
  const more = times > seeds.length ? " and others" : "";
  return `BROKEN ${times} times: ${rule}, by seeds ${seeds.join(", ")}${more}`;
}

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
