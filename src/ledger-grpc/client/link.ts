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
import type { Mutation } from "../../gen/tollgate/ledger/v1/Mutation.ts";
import type { MutationResult__Output } from "../../gen/tollgate/ledger/v1/MutationResult.ts";
import type { StreamMutationsResponse__Output } from "../../gen/tollgate/ledger/v1/StreamMutationsResponse.ts";
import { ledgerService } from "../service.ts";
import { LedgerLinkError, type LinkFault } from "./link-error.ts";

/** One connection to the ledger, with one stream of mutations. It is given up whole when either fails. */
export interface Link {
  send(sequence: number, mutations: readonly Mutation[]): void;
  /** One call beside the stream. Rejects with grpc's ServiceError. */
  call<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    maxMs: number,
  ): Promise<Answer>;
  /** Ends it at once; `onEnd` is told this error, and running calls are cancelled. */
  drop(error: LedgerLinkError): void;
}

export interface LinkEvents {
  /** The server has accepted us, and answers. */
  onUp(): void;
  onAnswer(sequence: number, results: readonly MutationResult__Output[]): void;
  /** Told once; nothing comes after it. */
  onEnd(error: LedgerLinkError): void;
}

export interface Endpoint extends Security {
  /** "host:port" */
  readonly address: string;
  readonly token: string;
}

const OPTIONS: ChannelOptions = Object.freeze({
  // A connection that was given up must not be handed out again.
  "grpc.use_local_subchannel_pool": 1,
  // What is tried again is for us to say.
  "grpc.enable_retries": 0,
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  // A page of 1,000 receipts, each with all of its metadata.
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
});

/** The number of the empty message that opens a link: its answer says that the server is one of ours. */
const HELLO = 0;

export function openLink(endpoint: Endpoint, events: LinkEvents): Link {
  const { address, token, credentials, options } = endpoint;
  const client = new Client(address, credentials, { ...OPTIONS, ...options });
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
  stream.on("data", ({ sequence, results }: StreamMutationsResponse__Output) => {
    if (isOver) return;
    if (Number(sequence) === HELLO) events.onUp();
    else events.onAnswer(Number(sequence), results);
  });
  // Whatever it is comes as a status, too; without a listener it would end the process.
  stream.on("error", () => undefined);
  stream.on("status", ({ code, details }: StatusObject) => end(new LedgerLinkError(faultOf(code), details)));
  stream.write({ sequence: HELLO, mutations: [] });

  return {
    send: (sequence, mutations) => stream.write({ sequence, mutations: [...mutations] }),
    call: (method, request, maxMs) =>
      new Promise((resolve, reject) => {
        const { path, requestSerialize, responseDeserialize } = method;
        const options = { deadline: Date.now() + maxMs };
        const call = client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          headers.clone(),
          options,
          (error, answer) => {
            calls.delete(call);
            // Safe because there is an answer wherever there is no error.
            if (error) reject(error);
            else resolve(answer as NonNullable<typeof answer>);
          },
        );
        calls.add(call);
      }),
    drop: end,
  };
}

const FAULTS: Readonly<Partial<Record<status, LinkFault>>> = Object.freeze({
  [status.UNAUTHENTICATED]: "denied",
  [status.PERMISSION_DENIED]: "denied",
  [status.UNIMPLEMENTED]: "unsupported",
  [status.INVALID_ARGUMENT]: "rejected",
  [status.RESOURCE_EXHAUSTED]: "rejected",
  [status.DEADLINE_EXCEEDED]: "silent",
});

/** What a status means that the ledger did not give. What is not known to be final is tried again. */
export function faultOf(code: status): LinkFault {
  return FAULTS[code] ?? "lost";
}

/** PEM texts: who may vouch for the server (default: whom the system trusts), and who we are. */
export interface ClientTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** How a channel is secured. */
export interface Security {
  readonly credentials: ChannelCredentials;
  readonly options: ChannelOptions;
}

/** What is told to a server as the name we call it by, when it has none: TLS takes no IP address there. */
const NAMELESS = "ledger.invalid";

/** In the clear without `tls`. A server that is called by its IP address must have that in its certificate. */
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
