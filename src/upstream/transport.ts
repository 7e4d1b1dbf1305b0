import type { MessagesHost, Surface } from "../domain/model.ts";
import type { CallBody, UpstreamCall } from "./upstream.ts";

/** How calls reach one provider: their address, their credentials, and the form of the answers. */
export interface Transport {
  /** Returns the wire formats in which its API serves a model, the preferred one first. */
  surfacesOf(upstreamModel: string): readonly Surface[];
  /** How its messages bodies differ from Anthropic's own; `undefined` when they do not. */
  readonly messagesHost?: MessagesHost | undefined;
  /**
   * Addresses and authenticates one call; a promise while credentials are fetched or a body is signed. A
   * rejection counts as a connection that failed: its message must hold no secret.
   */
  request(call: UpstreamCall): TransportRequest | Promise<TransportRequest>;
  /** Converts an answer to the format of its call. Absent where the provider answers in it. */
  readAnswer?(answer: Response, call: UpstreamCall): Response | Promise<Response>;
  /**
   * Called for an answer 401 or 403. Returns whether a new request may succeed, because it has other credentials
   * or another clock. The call is then sent once more.
   */
  mayRepeat?(answer: Response): boolean;
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
interface ProbeRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it carries no credentials, so that any status only shows that the host answers. */
  readonly isAnonymous?: boolean;
}
