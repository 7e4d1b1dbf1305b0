import { counter, type Family, gauge, Histogram, histogram, type Labels, REQUEST_SECONDS } from "./series.ts";

/**
 * Counts what upstreams do, by their names in the configuration. A call costs about 10 ns. The first call for
 * an upstream creates its series. They stay after a reload removes it, so that counters never decrease.
 */
export interface UpstreamMetrics {
  /**
   * Counts an ended attempt by its outcome: `ok`, `client_closed`, or a code of the error contract. `key` is
   * the label of a key of a pool.
   */
  attempted(upstream: string, outcome: string, ms: number, key?: string | undefined): void;
  /** Sets whether the circuit is open or half-open. Called at the start, too, so that the series exist. */
  circuit(upstream: string, isOpen: boolean): void;
  /** Sets whether the circuit of one key of a pool is open or half-open. */
  keyCircuit(upstream: string, key: string, isOpen: boolean): void;
  /** Counts a call that began (1) or ended (-1). */
  running(upstream: string, change: 1 | -1, key?: string | undefined): void;
  /** Counts a usage report with more of a kind than the bound of its request. */
  aboveBound(upstream: string, kind: UsageKind): void;
}

type UsageKind = "input" | "output" | "units" | "tier" | "calls";

/** {@link UpstreamMetrics} that can be printed. */
export interface CountedUpstreams extends UpstreamMetrics {
  /** Ended attempts since the start of the process, by upstream and outcome. */
  attempts(): ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly families: readonly Family[];
}

interface Tally {
  isOpen: boolean;
  calls: number;
  readonly attempts: Map<string, Histogram>;
  readonly aboveBound: Record<UsageKind, number>;
}

/** What one key of a pool does. */
interface KeyTally {
  readonly labels: { readonly upstream: string; readonly key: string };
  isOpen: boolean;
  calls: number;
  readonly attempts: Map<string, number>;
}

/**
 * The outcomes that are printed as 0 from the start: Prometheus sees no increase in a series that begins at
 * 1.
 */
const INITIAL_OUTCOMES = ["ok", "upstream_unavailable", "upstream_timeout"];

/** Counts in plain numbers until they are read. */
export function countUpstreams(): CountedUpstreams {
  const tallies = new Map<string, Tally>();
  const keyTallies = new Map<string, KeyTally>();

  function keyTallyOf(upstream: string, key: string): KeyTally {
    const name = `${upstream}\0${key}`;
    const known = keyTallies.get(name);
    if (known) return known;
    const attempts = new Map(INITIAL_OUTCOMES.map((outcome) => [outcome, 0]));
    const tally = { labels: { upstream, key }, isOpen: false, calls: 0, attempts };
    keyTallies.set(name, tally);
    return tally;
  }

  function tallyOf(upstream: string): Tally {
    const known = tallies.get(upstream);
    if (known) return known;
    const attempts = new Map(INITIAL_OUTCOMES.map((outcome) => [outcome, new Histogram(REQUEST_SECONDS)]));
    const tally = {
      isOpen: false,
      calls: 0,
      attempts,
      aboveBound: { input: 0, output: 0, units: 0, tier: 0, calls: 0 },
    };
    tallies.set(upstream, tally);
    return tally;
  }

  return {
    attempted(upstream, outcome, ms, key) {
      const { attempts } = tallyOf(upstream);
      let durations = attempts.get(outcome);
      if (!durations) {
        durations = new Histogram(REQUEST_SECONDS);
        attempts.set(outcome, durations);
      }
      durations.observe(ms / 1000);
      if (key === undefined) return;
      const ofKey = keyTallyOf(upstream, key).attempts;
      ofKey.set(outcome, (ofKey.get(outcome) ?? 0) + 1);
    },
    circuit(upstream, isOpen) {
      tallyOf(upstream).isOpen = isOpen;
    },
    keyCircuit(upstream, key, isOpen) {
      keyTallyOf(upstream, key).isOpen = isOpen;
    },
    running(upstream, change, key) {
      tallyOf(upstream).calls += change;
      if (key !== undefined) keyTallyOf(upstream, key).calls += change;
    },
    aboveBound(upstream, kind) {
      tallyOf(upstream).aboveBound[kind] += 1;
    },
    attempts: () => new Map([...tallies].map(([upstream, { attempts }]) => [upstream, countsOf(attempts)])),
    families: [...upstreamFamilies(tallies), ...keyFamilies(keyTallies)],
  };
}

function countsOf(attempts: Tally["attempts"]): ReadonlyMap<string, number> {
  return new Map([...attempts].map(([outcome, { count }]) => [outcome, count]));
}

type Tallies = ReadonlyMap<string, Tally>;

function upstreamFamilies(tallies: Tallies): readonly Family[] {
  return [
    counter("tollgate_upstream_attempts_total", "Attempts at an upstream, by outcome.", () =>
      rowsOf(tallies, ({ attempts }) => [...attempts].map(([outcome, { count }]) => [{ outcome }, count])),
    ),
    histogram(
      "tollgate_upstream_attempt_duration_seconds",
      "Time of an attempt at an upstream, from its call to the end of its answer, by outcome.",
      () => rowsOf(tallies, ({ attempts }) => [...attempts].map(([outcome, each]) => [{ outcome }, each])),
    ),
    counter(
      "tollgate_usage_above_bound_total",
      "Answers that reported more tokens or units than the bound of their request, and were charged up to it.",
      () => rowsOf(tallies, ({ aboveBound }) => Object.entries(aboveBound).map(([kind, n]) => [{ kind }, n])),
    ),
    gauge("tollgate_upstream_calls", "Running calls of an upstream.", () =>
      rowsOf(tallies, ({ calls }) => [[{}, calls]]),
    ),
    gauge(
      "tollgate_upstream_circuit_open",
      "1 while the circuit of an upstream is open or half-open, because earlier calls failed.",
      () => rowsOf(tallies, ({ isOpen }) => [[{}, isOpen ? 1 : 0]]),
    ),
  ];
}

function keyFamilies(tallies: ReadonlyMap<string, KeyTally>): readonly Family[] {
  return [
    counter("tollgate_upstream_key_attempts_total", "Attempts with a key of a pool, by outcome.", () =>
      [...tallies.values()].flatMap(({ labels, attempts }) =>
        [...attempts].map(([outcome, count]) => [{ ...labels, outcome }, count] as const),
      ),
    ),
    gauge("tollgate_upstream_key_calls", "Running calls with a key of a pool.", () =>
      [...tallies.values()].map(({ labels, calls }) => [labels, calls] as const),
    ),
    gauge(
      "tollgate_upstream_key_circuit_open",
      "1 while the circuit of a key is open or half-open, because its calls failed or it was rejected.",
      () => [...tallies.values()].map(({ labels, isOpen }) => [labels, isOpen ? 1 : 0] as const),
    ),
  ];
}

/** The rows of every upstream, with its name as the first label. */
function rowsOf<Value>(
  tallies: Tallies,
  read: (tally: Tally) => readonly (readonly [labels: Labels, value: Value])[],
): readonly (readonly [labels: Labels, value: Value])[] {
  return [...tallies].flatMap(([upstream, tally]) =>
    read(tally).map(([labels, value]) => [{ upstream, ...labels }, value] as const),
  );
}
