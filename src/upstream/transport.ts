import type { Surface } from "../domain/model.ts";
import type { CallBody, UpstreamCall } from "./upstream.ts";

/** How calls reach one provider: their address, their credentials, and the form of the answers. */
export interface Transport {
  /** The wire formats of its API, the preferred one first. */
  readonly surfaces: readonly Surface[];
  /**
   * The `anthropic_version` that a messages body carries where the URL has the model and the stream flag, which
   * the body then lacks. `undefined` for Anthropic's own API.
   */
  readonly anthropicVersion?: string | undefined;
  /**
   * Addresses and authenticates one call; a promise while credentials are fetched or a body is signed. A
   * rejection counts as a connection that failed: its message must hold no secret.
   */
  request(call: UpstreamCall): TransportRequest | Promise<TransportRequest>;
  /** Converts an answer to the format of its call. Absent where providers answer in it. */
  readAnswer?(answer: Response, call: UpstreamCall): Response;
  /** Addresses a request that costs nothing, such as a list of models. */
  probe(): ProbeRequest | Promise<ProbeRequest>;
}

/** One POST request to a provider. */
export interface TransportRequest {
  readonly url: string;
  readonly headers: Headers;
  /** Default: the body of the call. */
  readonly body?: CallBody;
}

/** One GET request to a provider. */
export interface ProbeRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}
