import type { Mutation__Output } from "../../gen/tollgate/ledger/v1/Mutation.ts";
import type { MutationResult } from "../../gen/tollgate/ledger/v1/MutationResult.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { InvalidField } from "../codec/invalid-field.ts";
import { encodeRefusal } from "../codec/status.ts";
import { explain } from "./failure.ts";
import { MUTATIONS, type MutationKind, type Span } from "./mutations.ts";

/** Mutations of one message at most. */
export const MUTATIONS_MAX = 1_000;

export interface Runner {
  readonly ledger: Ledger;
  /** Told of what is no refusal. */
  onFault(fault: unknown): void;
}

/**
 * Gives all mutations to the ledger at once and in order, so that it commits them together. Each succeeds or
 * fails alone; never rejects.
 */
export function runMutations(
  runner: Runner,
  mutations: readonly Mutation__Output[],
  span: Span,
): Promise<MutationResult[]> {
  return Promise.all(mutations.map((mutation) => runOne(runner, mutation, span)));
}

async function runOne(runner: Runner, wire: Mutation__Output, span: Span): Promise<MutationResult> {
  let request: object | undefined;
  try {
    const { mutation } = wire;
    const body = mutation && wire[mutation];
    if (!mutation || !body) throw new InvalidField("mutation", "invalid_request");
    // Safe because the body is the message of this kind; TypeScript cannot follow the pair.
    const kind = MUTATIONS[mutation] as unknown as MutationKind<typeof body, object, unknown, unknown>;
    request = kind.decode(body, span);
    return kind.encodeResult(await kind.apply(runner.ledger, request));
  } catch (error) {
    const { reason, about } = explain(error, request);
    if (reason === "internal") runner.onFault(error);
    return { status: encodeRefusal(reason, about) };
  }
}
