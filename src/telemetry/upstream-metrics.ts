import type { Registry } from "prom-client";

/**
 * What is told of upstreams, by the operator's own names for them. Costs some ten nanoseconds a call. An
 * upstream is there from the first that is told of it, also when a reload has taken it away since: what was
 * counted would else seem to go back.
 */
export interface UpstreamMetrics {
  /** How an attempt ended: `ok`, `client_closed` or a code of the error contract, nothing of the upstream's own. */
  attempted(upstream: string, outcome: string): void;
  /** Whether its circuit is open, half-open included; told at the start too, it makes the upstream known. */
  circuit(upstream: string, isOpen: boolean): void;
  /** A call began or ended. */
  running(upstream: string, change: 1 | -1): void;
  /** A report had more tokens of a kind than its request allows for. */
  aboveBound(upstream: string, kind: TokenKind): void;
}

type TokenKind = "input" | "output";

/** {@link UpstreamMetrics} and the way to Prometheus. */
export interface CountedUpstreams extends UpstreamMetrics {
  register(client: typeof import("prom-client"), registry: Registry): void;
}

interface Tally {
  isOpen: boolean;
  calls: number;
  readonly attempts: Map<string, number>;
  readonly aboveBound: Record<TokenKind, number>;
}

/** What is said from the start, as 0: Prometheus sees no growth in a row that begins with 1. */
const USUAL = ["ok", "upstream_unavailable", "upstream_timeout"];

/** Plain numbers until they are read. */
export function countUpstreams(): CountedUpstreams {
  const tallies = new Map<string, Tally>();

  function tallyOf(upstream: string): Tally {
    const known = tallies.get(upstream);
    if (known) return known;
    const attempts = new Map(USUAL.map((outcome) => [outcome, 0]));
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
    register(client, registry) {
      registerTallies(client, registry, tallies);
    },
  };
}

function registerTallies(
  client: typeof import("prom-client"),
  registry: Registry,
  tallies: ReadonlyMap<string, Tally>,
): void {
  const registers = [registry];
  new client.Counter({
    name: "tollgate_upstream_attempts_total",
    help: "Attempts at an upstream, by what came of them.",
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
    help: "Answers that reported more tokens than their request allows for, charged up to that bound.",
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
    help: "Calls of an upstream that are running now.",
    labelNames: ["upstream"],
    registers,
    collect() {
      for (const [upstream, { calls }] of tallies) this.set({ upstream }, calls);
    },
  });
  new client.Gauge({
    name: "tollgate_upstream_circuit_open",
    help: "1 while an upstream gets none but probing calls, because calls before failed.",
    labelNames: ["upstream"],
    registers,
    collect() {
      for (const [upstream, { isOpen }] of tallies) this.set({ upstream }, isOpen ? 1 : 0);
    },
  });
}
