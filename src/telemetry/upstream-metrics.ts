import type { Registry } from "prom-client";

export type PromClient = typeof import("prom-client");

/**
 * Counts what upstreams do, by their names in the configuration. A call costs about 10 ns. The first call for
 * an upstream creates its series. They stay after a reload removes it, so that counters never decrease.
 */
export interface UpstreamMetrics {
  /** Counts an ended attempt by its outcome: `ok`, `client_closed`, or a code of the error contract. */
  attempted(upstream: string, outcome: string): void;
  /** Sets whether the circuit is open or half-open. Called at the start, too, so that the series exist. */
  circuit(upstream: string, isOpen: boolean): void;
  /** Counts a call that began (1) or ended (-1). */
  running(upstream: string, change: 1 | -1): void;
  /** Counts a usage report with more tokens of a kind than the bound of its request. */
  aboveBound(upstream: string, kind: TokenKind): void;
}

type TokenKind = "input" | "output";

/** {@link UpstreamMetrics} that can be registered with Prometheus. */
export interface CountedUpstreams extends UpstreamMetrics {
  /** Ended attempts since the start of the process, by upstream and outcome. */
  attempts(): ReadonlyMap<string, ReadonlyMap<string, number>>;
  register(client: PromClient, registry: Registry): void;
}

interface Tally {
  isOpen: boolean;
  calls: number;
  readonly attempts: Map<string, number>;
  readonly aboveBound: Record<TokenKind, number>;
}

/**
 * The outcomes that are printed as 0 from the start: Prometheus sees no increase in a series that begins at
 * 1.
 */
const INITIAL_OUTCOMES = ["ok", "upstream_unavailable", "upstream_timeout"];

/** Counts in plain numbers until they are read. */
export function countUpstreams(): CountedUpstreams {
  const tallies = new Map<string, Tally>();

  function tallyOf(upstream: string): Tally {
    const known = tallies.get(upstream);
    if (known) return known;
    const attempts = new Map(INITIAL_OUTCOMES.map((outcome) => [outcome, 0]));
    const tally = { isOpen: false, calls: 0, attempts, aboveBound: { input: 0, output: 0 } };
    tallies.set(upstream, tally);
    return tally;
  }

  return {
    attempted(upstream, outcome) {
      const { attempts } = tallyOf(upstream);
      attempts.set(outcome, (attempts.get(outcome) ?? 0) + 1);
    },
    circuit(upstream, isOpen) {
      tallyOf(upstream).isOpen = isOpen;
    },
    running(upstream, change) {
      tallyOf(upstream).calls += change;
    },
    aboveBound(upstream, kind) {
      tallyOf(upstream).aboveBound[kind] += 1;
    },
    attempts: () => new Map([...tallies].map(([upstream, { attempts }]) => [upstream, attempts])),
    register(client, registry) {
      registerTallies(client, registry, tallies);
    },
  };
}

function registerTallies(client: PromClient, registry: Registry, tallies: ReadonlyMap<string, Tally>): void {
  const registers = [registry];
  new client.Counter({
    name: "tollgate_upstream_attempts_total",
    help: "Attempts at an upstream, by outcome.",
    labelNames: ["upstream", "outcome"],
    registers,
    collect() {
      this.reset();
      for (const [upstream, { attempts }] of tallies) {
        for (const [outcome, count] of attempts) this.inc({ upstream, outcome }, count);
      }
    },
  });
  new client.Counter({
    name: "tollgate_usage_above_bound_total",
    help: "Answers that reported more tokens than the bound of their request, and were charged up to it.",
    labelNames: ["upstream", "kind"],
    registers,
    collect() {
      this.reset();
      for (const [upstream, { aboveBound }] of tallies) {
        this.inc({ upstream, kind: "input" }, aboveBound.input);
        this.inc({ upstream, kind: "output" }, aboveBound.output);
      }
    },
  });
  new client.Gauge({
    name: "tollgate_upstream_calls",
    help: "Running calls of an upstream.",
    labelNames: ["upstream"],
    registers,
    collect() {
      for (const [upstream, { calls }] of tallies) this.set({ upstream }, calls);
    },
  });
  new client.Gauge({
    name: "tollgate_upstream_circuit_open",
    help: "1 while the circuit of an upstream is open or half-open, because earlier calls failed.",
    labelNames: ["upstream"],
    registers,
    collect() {
      for (const [upstream, { isOpen }] of tallies) this.set({ upstream }, isOpen ? 1 : 0);
    },
  });
}
