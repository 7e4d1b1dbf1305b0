import type { Problems } from "./problems.ts";

/** An address to listen on. */
export interface Endpoint {
  /** Host name or address; an IPv6 address has no brackets. */
  readonly host: string;
  readonly port: number;
}

const HOST_AND_PORT = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/;

/** Parses "host:port" and "[address]:port". Returns `undefined` for any other text. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const [, address, name, digits] = HOST_AND_PORT.exec(text) ?? [];
  const host = address ?? name;
  const port = Number(digits);
  return host !== undefined && port <= 65_535 ? { host, port } : undefined;
}

/** Reads a variable that holds an endpoint, or "off", for which it returns `undefined`. */
export function readListen(name: string, text: string, problems: Problems): Endpoint | undefined {
  if (text === "off") return undefined;
  const endpoint = parseEndpoint(text);
  if (!endpoint) problems.add([name], "is not an address to listen on", "HOST:PORT or off");
  return endpoint;
}
