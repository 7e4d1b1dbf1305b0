import type { Cause } from "../../src/errors.ts";
import type { RequestOptions, Surface } from "./client.ts";

/** One cause of failure that a client can meet: how to bring it about, and what is said then. */
export type ErrorCase = readonly [
  name: string,
  arrange: (surface: Surface) => Arranged | Promise<Arranged>,
  cause: Cause,
  message?: string,
];

type Arranged = RequestOptions & Readonly<Record<string, unknown>>;
