import type { MessagesHost, Surface } from "../domain/model.ts";
import type { Tier } from "../domain/tiers.ts";
import type { Limits } from "../limiter/limiter.ts";
import type { Health } from "./cooldown.ts";
import type { FirstOutputTimes } from "./first-output-times.ts";
import type { KeyBounds } from "./key-bounds.ts";

/** A body in UTF-8, in blocks, or as text that is sent in UTF-8. */
export type EncodedBody = string | readonly Uint8Array[];

/**
 * Request body of an upstream call. It does not stay in memory after it is sent: an answer may take minutes.
 */
export interface CallBody {
  /** Length in UTF-8. */
  readonly bytes: number;
  /** Returns the body, encoded again for each call but the first; a Promise when a worker encodes it. */
  take(): EncodedBody | Promise<EncodedBody>;
}

/** One call of an upstream, in the upstream's wire format. */
export interface UpstreamCall {
  readonly surface: Surface;
  /** The path after the base URL, unless the provider has one of its own. */
  readonly path: string;
  /** The upstream's name of the model. */
  readonly model: string;
  readonly body: CallBody;
  readonly stream: boolean;
  /** Client headers that the format forwards (`anthropic-version`, `anthropic-beta`), in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** "?beta=true" or "". */
  readonly query: string;
}

/** Timeouts of a call, in milliseconds. */
export interface UpstreamTimeouts {
  /** From the call to an established connection, TLS included. A kept connection takes none of it. */
  readonly connectMs: number;
  /** From the call to the first output. */
  readonly firstOutputMs: number;
  /** Between two pieces of a response. */
  readonly idleMs: number;
  /** From the call to the end of the response. */
  readonly totalMs: number;
}

/** Configuration of an upstream reached over HTTP, by its protocol. */
export type UpstreamConfig = OpenaiConfig | AzureConfig | BedrockConfig | VertexConfig | PlainConfig;

/** What the configuration of every upstream has. */
interface CommonConfig {
  readonly name: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** "" where the protocol needs none, and beside `keys`. */
  readonly apiKey: string;
  /** A pool of keys instead of `apiKey`; never empty. */
  readonly keys?: readonly KeyConfig[] | undefined;
  readonly timeouts: UpstreamTimeouts;
  readonly outputLimitField: "max_tokens" | "max_completion_tokens" | undefined;
  /** The service tier of requests that ask for none; default: the standard one. */
  readonly defaultTier?: Tier | undefined;
  /** Consecutive failures that open the circuit. */
  readonly circuitFailures: number;
}

/** An upstream that only its address and its key describe. */
export interface PlainConfig extends CommonConfig {
  readonly protocol: "anthropic" | "gemini";
}

export interface OpenaiConfig extends CommonConfig {
  readonly protocol: "openai";
  /** Whether it serves responses beside chat completions. */
  readonly hasResponses: boolean;
}

export interface AzureConfig extends CommonConfig {
  readonly protocol: "azure";
  readonly hasResponses: boolean;
  /** The dated version of the deployments form; `undefined` for the v1 form. */
  readonly apiVersion?: string | undefined;
  /** The scope of Entra ID tokens; `undefined` where a key authenticates. */
  readonly entraScope?: string | undefined;
}

/** The host's names of betas by the clients' names; `false` drops a beta. */
export type BetaNames = Readonly<Record<string, string | false>>;

export interface BedrockConfig extends CommonConfig {
  readonly protocol: "bedrock";
  readonly bedrock: {
    readonly region: string;
    /** Profile of the shared credentials files; `undefined` for the default chain. */
    readonly profile: string | undefined;
    /** The API of every model; `undefined` chooses by the model's id. */
    readonly api: "invoke" | "converse" | undefined;
  };
  readonly betaNames?: BetaNames | undefined;
}

export interface VertexConfig extends CommonConfig {
  readonly protocol: "vertex";
  readonly google: GooglePlace;
  readonly betaNames?: BetaNames | undefined;
}

/** Where on Google Cloud models are called, and as whom. */
export interface GooglePlace {
  readonly project: string;
  /** Such as "global" or "europe-west1". */
  readonly location: string;
  /** JSON text; `undefined` uses the credentials of the machine. */
  readonly credentials: string | undefined;
}

/** Configuration of one key of a pool. */
export interface KeyConfig {
  /** Names the key in logs, metrics and receipts. */
  readonly label: string;
  readonly apiKey: string;
  /** The relative share of the upstream's requests, from 1. */
  readonly weight: number;
  /** What the key may be sent, by all gateways together. */
  readonly limits: Limits;
}

/** The caller's side of a call: cancels it, and follows its progress. */
export interface CallObserver {
  /** An abort closes the connection at once. */
  readonly signal: AbortSignal;
  /** Called when a second connection is opened. A call starts in this state without a report. */
  connecting(): void;
  /**
   * Called when the connection is established, TLS included, and takes the request. Also called when a
   * connection is assumed, because the host answered within the last second.
   */
  connected(): void;
  /** Called when an assumed connection proves to be none: the host cannot be reached. */
  unreachable(): void;
  /** Sets the function that is called once when the response is no longer read. */
  onEnded(listener: () => void): void;
}

/** One key of an upstream, with its state as its calls have shown. */
export interface UpstreamKey {
  /** Its label in the pool; `undefined` for the only key of an upstream without a pool. */
  readonly label: string | undefined;
  readonly weight: number;
  /** The weight as a part of the weights of all keys, above 0 and at most 1. */
  readonly share: number;
  /** A hash of the names of upstream and key: equal in every gateway of one configuration. */
  readonly seed: number;
  readonly health: Health;
  /** `undefined` without limits. */
  readonly bounds: KeyBounds | undefined;
  readonly times: FirstOutputTimes;
  /**
   * Asks the provider for its models, at no cost. Resolves with the status, or with the code of the network
   * error. Absent where there is no provider.
   */
  readonly probe?: (() => Promise<number | string>) | undefined;
  /** Sends one call. Rejects when no response arrives. */
  send(call: UpstreamCall, observer: CallObserver): Promise<Response>;
}

/** A provider of model responses. */
export interface Upstream {
  readonly name: string;
  /** Its `gen_ai.provider.name` in OpenTelemetry's conventions. */
  readonly provider: string;
  /** The host and port of its base URL; absent for an upstream inside of the gateway. */
  readonly address?: { readonly host: string; readonly port: number } | undefined;
  /** Returns the wire formats in which its API serves a model, the preferred one first. */
  surfacesOf(upstreamModel: string): readonly Surface[];
  readonly timeouts: UpstreamTimeouts;
  /** The only field for the output limit that it accepts; `undefined` when it accepts both. */
  readonly outputLimitField: "max_tokens" | "max_completion_tokens" | undefined;
  /** The service tier that its project or workspace has as the default; `undefined` for the standard one. */
  readonly defaultTier?: Tier | undefined;
  /** How its messages bodies differ from Anthropic's own; `undefined` when they do not. */
  readonly messagesHost?: MessagesHost | undefined;
  /** In the order of the configuration. */
  readonly keys: readonly [UpstreamKey, ...UpstreamKey[]];
}
