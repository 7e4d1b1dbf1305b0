import type { Model, Protocol, Route } from "../../../src/domain/model.ts";
import { type CapturedLog, createCapturedLog } from "../../support/captured-log.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.ts";
import { TRAITS, UPSTREAM_KINDS, type UpstreamKind } from "../cases/fuzz-case.ts";
import { type FuzzUpstream, type Lane, startFuzzUpstream } from "./fuzz-upstream.ts";

/** A gateway with upstreams that answer as the cases decide. */
export interface FuzzEnv {
  readonly gateway: TestGateway;
  readonly lanes: readonly Lane[];
  /** Log lines of internal errors, with all their fields. */
  readonly faults: readonly string[];
  /** Throws when the audit of the ledger finds a problem. */
  stop(): Promise<void>;
}

/** Balance in USD. More than all cases together can cost. */
export const TOP_UP = "100000000";

/** Long enough for an answer that comes, short enough for one that does not. */
const TIMEOUTS = { connectMs: 5_000, firstOutputMs: 1_500, idleMs: 1_000, totalMs: 4_000 };

export async function startFuzzEnv(laneCount: number): Promise<FuzzEnv> {
  const lanes = Array.from({ length: laneCount }, (_, index) => laneOf(index));
  const upstream = await startFuzzUpstream(lanes);
  const faults: string[] = [];
  const gateway = await startTestGateway({
    models: lanes.flatMap(modelsOf),
    upstreams: () => lanes.flatMap((lane) => upstreamsOf(lane, upstream)),
    topUp: TOP_UP,
    log: faultsOnly(faults),
  });
  return {
    gateway,
    lanes,
    faults,
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

function laneOf(index: number): Lane {
  return { name: `LANE${String(index).padStart(2, "0")}`, playing: undefined, calls: [] };
}

const PROTOCOLS: Readonly<Record<UpstreamKind, readonly UpstreamKind[]>> = {
  openai: ["openai"],
  anthropic: ["anthropic"],
  responses: ["responses"],
  gemini: ["gemini"],
  both: ["openai", "anthropic"],
};

function modelsOf({ name }: Lane): Model[] {
  return UPSTREAM_KINDS.flatMap((kind) =>
    Object.entries(TRAITS).map(([traitsName, traits]) => {
      const id = `${kind}-${traitsName}-${name}`;
      const routes = PROTOCOLS[kind].map(
        (upstream, index): Route => scriptedRoute(`${name}-${upstream}`, id, { priority: index + 1, traits }),
      );
      return scriptedModel(id, "openai", { routes });
    }),
  );
}

function upstreamsOf(lane: Lane, upstream: FuzzUpstream) {
  const url = upstream.urlOf(lane);
  const entry = (kind: UpstreamKind, protocol: Protocol) =>
    scriptedUpstream(`${lane.name}-${kind}`, protocol, {
      baseUrl: `${url}${BASES[protocol] ?? ""}`,
      timeouts: TIMEOUTS,
      hasResponses: kind === "responses",
    });
  return [
    entry("openai", "openai"),
    entry("anthropic", "anthropic"),
    entry("responses", "openai"),
    entry("gemini", "gemini"),
  ];
}

const BASES: Readonly<Partial<Record<Protocol, string>>> = { openai: "/v1", gemini: "/v1beta" };

/** A log that keeps errors only, because a long run has hundreds of thousands of lines. */
function faultsOnly(faults: string[]): CapturedLog {
  const quiet = () => {};
  return {
    ...createCapturedLog(),
    debug: quiet,
    info: quiet,
    warn: quiet,
    error(fields, event) {
      // Wrong reports of usage and tiers are drawn on purpose.
      if (event !== "usage above bound" && event !== "service tier not asked for")
        faults.push(`${event} ${Bun.inspect(fields)}`);
    },
  };
}
