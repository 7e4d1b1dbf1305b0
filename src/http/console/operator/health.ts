import { Elysia } from "elysia";
import { type Actor, recordChange } from "../../../accounts/audit-trail.ts";
import { countGateways } from "../../../db/gateways.ts";
import type { MailServerState } from "../../../delivery/mail/server-watch.ts";
import { printTime } from "../../../domain/id-time.ts";
import { printUsd } from "../../../domain/money.ts";
import { VERSION } from "../../../domain/version.ts";
import { GatewayError } from "../../../errors.ts";
import { type AttemptTotals, sumAttempts } from "../../../notices/upstream-attempts.ts";
import type { Backlog } from "../../../telemetry/background-metrics.ts";
import type { Upstream, UpstreamKey } from "../../../upstream/upstream.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { forced, health, keyPath, operatorNow, path, probe, upstream } from "./health-shapes.ts";

type Parts = PartsOf<"ledger" | "gateway" | "platform">;

/** The state of this gateway, its upstreams, limiter and ledger. Nothing secret. */
export function operatorHealthRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Operators"))
    .get("/operator/health", () => readHealth(parts), {
      summary: "Read the state of the gateway and its upstreams",
      needsOperator: true,
      response: health,
    })
    .get("/operator/now", () => readNow(parts), {
      summary: "Read which upstreams take no calls now",
      needsOperator: true,
      response: operatorNow,
    })
    .post("/operator/upstreams/:name/probe", ({ params }) => probeUpstream(parts, params), {
      summary: "Ask an upstream for its models now",
      needsOperator: true,
      params: path,
      response: probe,
    })
    .post(
      "/operator/upstreams/:name/circuit",
      ({ params, body, actor }) => forceCircuit(parts, actor, { ...params, ...body }),
      {
        summary: "Open or close the circuit of an upstream",
        needsOperator: true,
        params: path,
        body: forced,
        response: upstream,
      },
    )
    .post("/operator/upstreams/:name/keys/:label/probe", ({ params }) => probeUpstream(parts, params), {
      summary: "Ask an upstream for its models with one of its keys",
      needsOperator: true,
      params: keyPath,
      response: probe,
    })
    .post(
      "/operator/upstreams/:name/keys/:label/circuit",
      ({ params, body, actor }) => forceCircuit(parts, actor, { ...params, ...body }),
      {
        summary: "Open or close the circuit of a key of an upstream",
        needsOperator: true,
        params: keyPath,
        body: forced,
        response: upstream,
      },
    );
}

async function readHealth(parts: Parts) {
  const { database, platform } = parts;
  const { upstreams, limiter } = parts.gateway();
  const [limits, ledgerState, background, recent, gateways] = await Promise.all([
    limiter.status(),
    readLedger(parts),
    platform.background(),
    sumAttempts(database, parts.now()),
    countGateways(database),
  ]);
  const { outbox } = platform;
  return {
    upstreams: [...upstreams.values()].map((each) => printUpstream(parts, each, recent)),
    limiter: { ...limits },
    ledger: ledgerState,
    outbox: { entries: outbox.pending(), oldest_at: printTime(outbox.oldestAtMs()) },
    mails: printBacklog(background.outboxes.mail),
    webhooks: printBacklog(background.outboxes.webhook),
    mail_server: printMailServer(platform.mailServer()),
    database: database.dialect,
    version: VERSION,
    uptime_s: Math.floor(process.uptime()),
    memory_bytes: process.memoryUsage.rss(),
    gateways,
  };
}

/** The upstreams of this process that rest: all of their keys are rejected, failing or cooling down. */
function readNow(parts: Parts) {
  const states = [...parts.gateway().upstreams.values()].map(({ name, keys }) => ({
    name,
    ...joinStates(keys.map((key) => printState(parts, key))),
  }));
  const resting = states.filter(({ circuit, cooldown_until: until }) => circuit === "open" || until !== null);
  return {
    resting: resting.map(({ name, is_forced, is_rejected, opens_again_at, cooldown_until }) => ({
      name,
      is_forced,
      is_rejected,
      until: opens_again_at ?? cooldown_until,
    })),
  };
}

function printBacklog(backlog: Backlog | undefined) {
  return backlog ? { entries: backlog.entries, oldest_at: printTime(backlog.oldestAtMs) } : null;
}

function printMailServer(state: MailServerState | undefined) {
  return state ? { problem: state.problem ?? null, checked_at: printTime(state.checkedAtMs) } : null;
}

/** Null while the ledger does not answer: the rest of the page is needed most then. */
async function readLedger({ ledger, platform }: Parts) {
  const reading = Promise.all([ledger.runningTotals(undefined), ledger.rollUps()]);
  const read = await reading.catch(() => undefined);
  if (!read) return null;
  const [wallets, { closedFromMs, closedToMs, staleHours, isBackfilling }] = read;
  const oldest = wallets.map(({ oldestCreatedAtMs }) => oldestCreatedAtMs);
  return {
    mode: platform.audit ? ("local" as const) : ("remote" as const),
    open_holds: wallets.reduce((sum, { count }) => sum + count, 0),
    held_usd: printUsd(wallets.reduce((sum, { granted }) => sum + granted, 0n)),
    oldest_hold_at: oldest.length > 0 ? printTime(Math.min(...oldest)) : null,
    roll_up_closed_to: closedToMs > closedFromMs ? printTime(closedToMs) : null,
    stale_hours: staleHours,
    is_backfilling: isBackfilling,
  };
}

const NO_ATTEMPTS = { attempts: 0, failed: 0 };

function printUpstream(parts: Parts, { name, keys }: Upstream, recent: AttemptTotals) {
  const states = keys.map((key) => printState(parts, key));
  const isPool = keys[0].label !== undefined;
  const routed = parts
    .gateway()
    .catalog.list()
    .filter(({ routes }) => routes.some((route) => route.upstream === name));
  return {
    name,
    ...joinStates(states),
    models: routed.map(({ id: model }) => model),
    recent: recent.get(name) ?? NO_ATTEMPTS,
    keys: isPool ? states.map((state, at) => ({ ...labelOf(keys[at]), ...state })) : [],
  };
}

function labelOf(key: UpstreamKey | undefined) {
  return { label: key?.label ?? "", weight: key?.weight ?? 1 };
}

type PrintedState = ReturnType<typeof printState>;

function printState({ now }: Parts, { health: ofKey }: UpstreamKey) {
  const { state: circuit, isForced, isRejected, probeInMs, failures, running } = ofKey.status();
  const coolingMs = [...ofKey.cooldowns().values()];
  return {
    circuit,
    is_forced: isForced,
    is_rejected: isRejected,
    opens_again_at: probeInMs === undefined ? null : printTime(now() + probeInMs),
    in_flight: running,
    failures,
    cooldown_until: coolingMs.length > 0 ? printTime(now() + Math.max(...coolingMs)) : null,
  };
}

const CIRCUITS = ["closed", "half_open", "open"] as const;

/** An upstream is as well as its best key; it cools down when all of its keys do. */
function joinStates(states: readonly PrintedState[]): PrintedState {
  const best = states.toSorted(
    (one, other) => CIRCUITS.indexOf(one.circuit) - CIRCUITS.indexOf(other.circuit),
  )[0];
  if (!best) throw new Error("An upstream has a key");
  const cooling = states.flatMap(({ cooldown_until: until }) => until ?? []).sort();
  return {
    ...best,
    in_flight: states.reduce((sum, { in_flight: running }) => sum + running, 0),
    cooldown_until: cooling.length === states.length ? (cooling[0] ?? null) : null,
  };
}

interface KeyName {
  readonly name: string;
  /** `undefined` for all keys of the upstream. */
  readonly label?: string;
}

/** Finds an upstream and its keys, or the one key that is named. Throws `unknown_item`. */
function requireKeys({ gateway }: Parts, { name, label }: KeyName) {
  const found = gateway().upstreams.get(name);
  const keys = found?.keys.filter((key) => label === undefined || key.label === label) ?? [];
  const [first] = keys;
  if (!found || !first) throw new GatewayError("unknown_item");
  return { found, keys, first };
}

/**
 * Asks the provider for its models with the first of the keys. When it answers, the next call of an open
 * circuit is its probe; a rejected key waits for an answer that accepts it.
 */
async function probeUpstream(parts: Parts, name: KeyName) {
  const { found, first, keys } = requireKeys(parts, name);
  if (!first.probe) throw new GatewayError("not_built");
  const answer = await first.probe();
  for (const { health: ofKey } of keys) {
    const statusMax = ofKey.status().isRejected ? 399 : 499;
    if (typeof answer === "number" && answer <= statusMax) ofKey.probeNow();
  }
  const result =
    typeof answer === "number" ? { status: answer, fault: null } : { status: null, fault: answer };
  return { ...printUpstream(parts, found, await sumAttempts(parts.database, parts.now())), ...result };
}

interface ForcedState extends KeyName {
  readonly state: "open" | "closed";
}

/** Forces the circuit of this gateway's process; it is recorded first, so that no change is without an entry. */
async function forceCircuit(parts: Parts, actor: Actor, { state, ...name }: ForcedState) {
  const { database, now } = parts;
  const { found, keys } = requireKeys(parts, name);
  const before = joinStates(keys.map((key) => printState(parts, key))).circuit;
  const target = name.label === undefined ? name.name : `${name.name}/${name.label}`;
  const change = { action: "upstream.circuit_forced", target };
  await database.transact((tx) =>
    recordChange(database, tx, actor, { ...change, before: { state: before }, after: { state } }, now()),
  );
  for (const key of keys) key.health.force(state);
  return printUpstream(parts, found, await sumAttempts(database, now()));
}
