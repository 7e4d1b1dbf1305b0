import { FAST_MODEL } from "../answers.ts";
import type { Ask } from "../asks.ts";
import { modelEntry, type Offer, upstreamEntry } from "../gateway.ts";
import { MODELS } from "./wire-answers.ts";

/** How a first route fails. */
export const FAILURES = ["refused", "503", "reset"] as const;
type Failure = (typeof FAILURES)[number];

export const HEALTHY_LABEL = "healthy";
export const HEALTHY_MODEL = "bench-healthy";
export const TENTH_MODELS = { "503": "bench-tenth-503", reset: "bench-tenth-reset" } as const;

/** Nobody listens there, and nobody but root could. */
const NOWHERE = "http://127.0.0.1:1";
/** More than a benchmark's: this upstream's circuit never opens, and every request tries it. */
const FAILURES_NEVER_REACHED = 1_000_000;

/** A model whose first route always fails so, at an upstream whose circuit opens for it. */
export function downModel(failure: Failure): string {
  return `bench-down-${failure}`;
}

/** The same where no circuit spares anybody the failure. */
function eachModel(failure: Failure): string {
  return `bench-each-${failure}`;
}

/** A request whose first route answers, and one of each that fails. */
export const FAILOVER_ASKS: readonly Ask[] = [
  { label: HEALTHY_LABEL, model: HEALTHY_MODEL, stream: false },
  ...FAILURES.map((failure) => ({ label: failure, model: eachModel(failure), stream: false })),
];

interface FirstRoute {
  readonly model: string;
  readonly url: string;
  readonly upstreamModel: string;
  readonly circuitFailures?: number;
}

/** Models with a first route of their own and a second one that answers. */
export function failoverOffer(url: string): Offer {
  const failing = FAILURES.flatMap((failure) => {
    const first = {
      url: failure === "refused" ? NOWHERE : url,
      upstreamModel: failure === "reset" ? MODELS.reset.always : MODELS.unavailable.always,
    };
    return [
      { ...first, model: downModel(failure) },
      { ...first, model: eachModel(failure), circuitFailures: FAILURES_NEVER_REACHED },
    ];
  });
  const firsts: readonly FirstRoute[] = [
    ...failing,
    { model: HEALTHY_MODEL, url, upstreamModel: FAST_MODEL },
    { model: TENTH_MODELS["503"], url, upstreamModel: MODELS.unavailable.tenth },
    { model: TENTH_MODELS.reset, url, upstreamModel: MODELS.reset.tenth },
  ];
  return {
    upstreams: { ...Object.fromEntries(firsts.map(upstreamOf)), spare: upstreamEntry(url) },
    models: Object.fromEntries(firsts.map(modelOf)),
  };
}

/** An upstream under the name of the model that it comes first for. */
function upstreamOf({ model, url, circuitFailures }: FirstRoute): [string, object] {
  const circuit = circuitFailures === undefined ? {} : { circuit_failures: circuitFailures };
  return [model, { ...upstreamEntry(url), ...circuit }];
}

function modelOf({ model, upstreamModel }: FirstRoute): [string, object] {
  const routes = [
    { upstream: model, model: upstreamModel, priority: 1 },
    { upstream: "spare", model: FAST_MODEL, priority: 2 },
  ];
  return [model, modelEntry(routes)];
}
