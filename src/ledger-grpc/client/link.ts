import { isIP } from "node:net";
import { checkServerIdentity } from "node:tls";
import {
  ChannelCredentials,
  type ChannelOptions,
  Client,
  type ClientUnaryCall,
  Metadata,
  type MethodDefinition,
  type StatusObject,
  status,
} from "@grpc/grpc-js";
import type * as Proto from "../../gen/messages.ts";
import { platform } from "../../platform.ts";
import { ledgerService } from "../service.ts";
import { LedgerLinkError, type LinkFault } from "./link-error.ts";

/** One connection to the ledger, with one stream of mutations. When either fails, both end. */
export interface Link {
  send(sequence: number, mutations: readonly Proto.Mutation[]): void;
  /** Makes one unary call beside the stream. Rejects with the ServiceError of grpc-js. */
  call<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    maxMs: number,
  ): Promise<Answer>;
  /** Ends the link at once with this error, and cancels the running calls. */
  drop(error: LedgerLinkError): void;
}

export interface LinkEvents {
  /** The server accepted the token and answered the first message. */
  onUp(): void;
  onAnswer(sequence: number, results: readonly Proto.MutationResult__Output[]): void;
  /** Called once, last. */
  onEnd(error: LedgerLinkError): void;
}

interface Endpoint extends Security {
  /** "host:port" */
  readonly address: string;
  readonly token: TokenChoice;
  readonly openTransport?: OpenTransport | undefined;
}

/** The calls of grpc-js that a link makes. */
type Transport = Pick<Client, "makeBidiStreamRequest" | "makeUnaryRequest" | "close">;

export type OpenTransport = (
  address: string,
  credentials: ChannelCredentials,
  options: ChannelOptions,
) => Transport;

const OPTIONS: ChannelOptions = Object.freeze({
  // A dropped connection must not be reused.
  "grpc.use_local_subchannel_pool": 1,
  // The callers of a link decide what is retried.
  "grpc.enable_retries": 0,
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  // Fits a page of 1,000 receipts with 4 KiB of metadata each.
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
});

/** The sequence of the empty first message. Its answer proves that the server speaks this protocol. */
const HELLO = 0;

/** Opens a link; its events follow. */
export function openLink(endpoint: Endpoint, events: LinkEvents): Link {
  const { address, credentials, options, openTransport = openHttp2 } = endpoint;
  const token = endpoint.token.current();
  const client = openTransport(address, credentials, { ...OPTIONS, ...options });
  const headers = new Metadata();
  headers.set("authorization", `Bearer ${token}`);
  const { path, requestSerialize, responseDeserialize } = ledgerService.StreamMutations;
  const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, headers, {});
  const calls = new Set<ClientUnaryCall>();
  let isOver = false;

  const end = (error: LedgerLinkError) => {
    if (isOver) return;
    isOver = true;
    stream.cancel();
    for (const call of calls) call.cancel();
    client.close();
    events.onEnd(error);
  };
  /** Returns the fault of a status. A denied token is `lost`, hence retried, while there is another to try. */
  const faultOfCall = (code: status): LinkFault =>
    code === status.UNAUTHENTICATED && endpoint.token.deny(token) ? "lost" : faultOf(code);
  stream.on("data", ({ sequence, results }: Proto.StreamMutationsResponse__Output) => {
    if (isOver) return;
    if (Number(sequence) === HELLO) {
      endpoint.token.accept();
      events.onUp();
    } else events.onAnswer(Number(sequence), results);
  });
  // The status event carries every error too. Without a listener the error would end the process.
  stream.on("error", () => undefined);
  stream.on("status", ({ code, details }: StatusObject) => {
    if (!isOver) end(new LedgerLinkError(faultOfCall(code), details));
  });
  stream.write({ sequence: HELLO, mutations: [] });

  return {
    send: (sequence, mutations) => stream.write({ sequence, mutations: [...mutations] }),
    call: (method, request, maxMs) =>
      new Promise((resolve, reject) => {
        const { path, requestSerialize, responseDeserialize } = method;
        const options = { deadline: platform.now() + maxMs };
        const call = client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          headers.clone(),
          options,
          (error, answer) => {
            calls.delete(call);
            const isDenied = error?.code === status.UNAUTHENTICATED;
            if (isDenied && !isOver && faultOfCall(error.code) === "lost") end(new LedgerLinkError("lost"));
            // Safe because grpc-js gives an answer whenever it gives no error.
            if (error) reject(isDenied && isOver ? new LedgerLinkError("lost") : error);
            else resolve(answer as NonNullable<typeof answer>);
          },
        );
        calls.add(call);
      }),
    drop: end,
  };
}

const openHttp2: OpenTransport = (address, credentials, options) => new Client(address, credentials, options);

const FAULTS: Readonly<Partial<Record<status, LinkFault>>> = Object.freeze({
  [status.UNAUTHENTICATED]: "denied",
  [status.PERMISSION_DENIED]: "denied",
  [status.UNIMPLEMENTED]: "unsupported",
  [status.INVALID_ARGUMENT]: "rejected",
  [status.RESOURCE_EXHAUSTED]: "rejected",
  [status.DEADLINE_EXCEEDED]: "silent",
});

/**
 * Returns the fault behind a status without details of the ledger. An unlisted status counts as `lost`, which
 * is retried.
 */
export function faultOf(code: status): LinkFault {
  return FAULTS[code] ?? "lost";
}

/**
 * PEM texts: the authority of the server (default: those of the system), and the certificate and key of this
 * client.
 */
export interface ClientTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** The credentials of a channel and the options that belong to them. */
interface Security {
  readonly credentials: ChannelCredentials;
  readonly options: ChannelOptions;
}

/** The server name sent for an address that is an IP: TLS allows no IP address in SNI. */
const NAMELESS = "ledger.invalid";

/**
 * Returns credentials; unencrypted without `tls`. A server called by IP must have that IP in its certificate.
 */
export function secure(address: string, tls: ClientTls | undefined): Security {
  if (!tls) return { credentials: ChannelCredentials.createInsecure(), options: {} };
  const host = address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  const isNameless = isIP(host) !== 0;
  const verification: Parameters<typeof ChannelCredentials.createSsl>[3] = isNameless
    ? { checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate) }
    : {};
  return {
    credentials: ChannelCredentials.createSsl(bytes(tls.ca), bytes(tls.key), bytes(tls.cert), verification),
    options: isNameless ? { "grpc.ssl_target_name_override": NAMELESS } : {},
  };
}

function bytes(pem: string | undefined): Buffer | null {
  return pem === undefined ? null : Buffer.from(pem);
}

/** The token that a client sends, and what it does when the ledger denies it. */
interface TokenChoice {
  /** Returns the first token that was not denied since the last success; the first one when all were. */
  current(): string;
  /** Must be called when the ledger denied a token. Returns whether there is another one to try. */
  deny(token: string): boolean;
  /** Must be called when the ledger accepted a token. */
  accept(): void;
}

/** Chooses among tokens that may change: during a rotation, the ledger may know the old one or the new one. */
export function createTokenChoice(tokens: () => readonly string[]): TokenChoice {
  const denied = new Set<string>();
  const untried = () => tokens().find((token) => !denied.has(token));
  return {
    current: () => untried() ?? tokens()[0] ?? "",
    deny(token) {
      denied.add(token);
      const isLeft = untried() !== undefined;
      // The next round begins with the first again.
      if (!isLeft) denied.clear();
      return isLeft;
    },
    accept: () => denied.clear(),
  };
}
