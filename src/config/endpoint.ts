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
