import type { Printed, Soon } from "../bodies/body.ts";
import type { MessagesHost, Route } from "../domain/model.ts";
import type { CallBody, UpstreamCall } from "../upstream/upstream.ts";
import { allowHeaderBetas, betasOfHost, namedBetas } from "../wire/anthropic-messages/betas.ts";
import type { PrintOptions, UpstreamFormat } from "../wire/format.ts";
import type { Candidate, HeldRequest, Quote } from "./request.ts";

type CallParts = Pick<HeldRequest, "call" | "body"> & { readonly candidate: Candidate };

/** A body that could not be printed. Never a fault of the upstream. */
export interface Unprinted {
  readonly fault: unknown;
}

/** Prints the call of a candidate, before its timeouts start. Never rejects. */
export async function prepareCall(
  { call, body, quote }: HeldRequest,
  candidate: Candidate,
): Promise<UpstreamCall | Unprinted> {
  const { format, isPassthrough } = candidate.codec;
  const options = printOptionsOf(candidate, quote);
  const { model, stream } = options;
  try {
    return {
      surface: format.surface,
      path: format.upstreamPath(options),
      model,
      stream,
      body: await printCallBody(() => body.print(format.surface, options)),
      headers: headersOf({ call, body, candidate }),
      query: isPassthrough ? call.query : "",
    };
  } catch (fault) {
    return { fault };
  }
}

/** The headers of a call beside its credentials. */
function headersOf({ call, body, candidate }: CallParts): Readonly<Record<string, string>> {
  const { format, isPassthrough } = candidate.codec;
  const headers = isPassthrough ? forwardedHeaders(format, { call, body }, candidate) : format.headers;
  return body.contentType === undefined ? headers : { ...headers, "content-type": body.contentType };
}

/** Prints a body now, and again each time that it is sent once more. */
export function printCallBody(print: () => Soon<Printed>): Soon<CallBody> {
  const printed = print();
  return printed instanceof Promise
    ? printed.then((each) => new PrintedBody(each, print))
    : new PrintedBody(printed, print);
}

class PrintedBody implements CallBody {
  readonly bytes: number;
  readonly #print: () => Soon<Printed>;
  #printed: Printed | undefined;

  constructor(printed: Printed, print: () => Soon<Printed>) {
    this.bytes = typeof printed === "string" ? Buffer.byteLength(printed) : printed.byteLength;
    this.#print = print;
    this.#printed = printed;
  }

  take(): Soon<Printed> {
    const taken = this.#printed ?? this.#print();
    this.#printed = undefined;
    return taken;
  }
}

/**
 * The client's headers that the format forwards, with the Anthropic betas that the operator allows on the
 * route and that its host knows.
 */
export function forwardedHeaders(
  format: UpstreamFormat,
  { call: { headers }, body }: Pick<HeldRequest, "call" | "body">,
  { route, upstream: { messagesHost } }: Pick<Candidate, "route" | "upstream">,
): Readonly<Record<string, string>> {
  if (format.forwardedHeaders.length === 0) return format.headers;
  const named = headers["anthropic-beta"];
  const sent = messagesHost
    ? betasInHeader(messagesHost, namedBetas(named, body.request.betas), route)
    : named && allowHeaderBetas(named, route.betas);
  if (sent === named) return { ...format.headers, ...headers };
  const { "anthropic-beta": _, ...others } = { ...format.headers, ...headers };
  return sent ? { ...others, "anthropic-beta": sent } : others;
}

/** The header of betas for a host that reads it; "" where the body has them. */
function betasInHeader(host: MessagesHost, named: readonly string[], { betas }: Route): string {
  return host.betasIn === "body" ? "" : betasOfHost(named, host, betas).join(",");
}

/** The planned options, unless limits or the grant have lowered the output limit since. */
function printOptionsOf({ printOptions }: Candidate, { outputTokensMax }: Quote): PrintOptions {
  return printOptions.outputTokensMax === outputTokensMax
    ? printOptions
    : { ...printOptions, outputTokensMax };
}
