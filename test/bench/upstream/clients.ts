import type { Client } from "./client.ts";
import { createFetchClient } from "./fetch-client.ts";
import { createNodeClient } from "./node-client.ts";
import { createUndiciClient } from "./undici-client.ts";

/** All that are compared, each for the calls of one upstream; fetch comes first, as the baseline. */
export const CLIENTS = {
  fetch: createFetchClient,
  "node:http": createNodeClient,
  undici: createUndiciClient,
} as const satisfies Record<string, (url: string) => Promise<Client>>;

export type ClientName = keyof typeof CLIENTS;

export function isClientName(name: string): name is ClientName {
  return name in CLIENTS;
}
