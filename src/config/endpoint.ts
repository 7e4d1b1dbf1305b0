import type { Problems } from "./problems.ts";

/** Where something listens. */
export interface Endpoint {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
}

const HOST_AND_PORT = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/;

/** Reads "host:port" and "[address]:port"; `undefined` when it is neither. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const [, address, name, digits] = HOST_AND_PORT.exec(text) ?? [];
  const host = address ?? name;
  const port = Number(digits);
  return host !== undefined && port <= 65_535 ? { host, port } : undefined;
}

/** Reads where a variable says to listen; `undefined` is nowhere, for "off". */
export function readListen(name: string, text: string, problems: Problems): Endpoint | undefined {
  if (text === "off") return undefined;
  const endpoint = parseEndpoint(text);
  if (!endpoint) problems.add([name], "is no place to listen", "HOST:PORT or off");
  return endpoint;
}
