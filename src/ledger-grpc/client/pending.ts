import type { Mutation } from "../../gen/tollgate/ledger/v1/Mutation.ts";
import type { MutationResult__Output } from "../../gen/tollgate/ledger/v1/MutationResult.ts";
import { LedgerError } from "../../ledger/ledger.ts";
import { readRefusal } from "../codec/status.ts";
import { encodeDuration } from "../codec/times.ts";
import { LedgerLinkError } from "./link-error.ts";

/** A mutation as it is handed in, and who waits for its answer. */
export interface Submission {
  readonly mutation: Mutation;
  /** Takes what the ledger answers when it has done it. */
  readonly accept: (result: MutationResult__Output) => void;
  readonly reject: (error: LedgerError) => void;
  /** Unix milliseconds after which it must not be done; only a hold has that. */
  readonly deadlineMs: number | undefined;
}

/** A mutation until it is answered. */
export interface Pending extends Submission {
  /** On the clock of `performance.now()`. */
  readonly giveUpAtMs: number;
  /** How often it was sent. Above 1 it is not known what became of the tries before the last. */
  sends: number;
  isAnswered: boolean;
}

/** Whether it may go out; refuses what must not be done any more. */
export function isSendable(pending: Pending, nowMs: number): boolean {
  if (pending.isAnswered) return false;
  if (pending.deadlineMs === undefined || pending.deadlineMs >= nowMs) return true;
  refuse(pending, new LedgerError(pending.sends === 0 ? "deadline_exceeded" : "unavailable"));
  return false;
}

/** What goes on the wire. Of a deadline that is the time left: two hosts' clocks differ. */
export function onWire({ mutation, deadlineMs }: Pending): Mutation {
  if (deadlineMs === undefined || !mutation.createHold) return mutation;
  return { createHold: { ...mutation.createHold, timeout: encodeDuration(deadlineMs - Date.now()) } };
}

/** Gives each its result; those that were given up do not hear of it. */
export function answer(message: readonly Pending[], results: readonly MutationResult__Output[]): void {
  for (const [index, pending] of message.entries()) {
    const result = results[index];
    if (!result) continue;
    if (!result.status) accept(pending, result);
    else refuse(pending, ofEveryTry(readRefusal(result.status) ?? nonsense(), pending));
  }
}

function accept(pending: Pending, result: MutationResult__Output): void {
  if (pending.isAnswered) return;
  pending.isAnswered = true;
  try {
    pending.accept(result);
  } catch (error) {
    pending.reject(nonsense(error));
  }
}

export function refuse(pending: Pending, error: LedgerError): void {
  if (pending.isAnswered) return;
  pending.isAnswered = true;
  pending.reject(error);
}

/** That the last try was not done says nothing of one before it, whose answer was lost. */
function ofEveryTry(error: LedgerError, { sends }: Pending): LedgerError {
  const isOfOneTry = error.refusal === "deadline_exceeded" || error.refusal === "queue_full";
  return isOfOneTry && sends > 1 ? new LedgerError("unavailable", error) : error;
}

function nonsense(reason?: unknown): LedgerError {
  return new LedgerError("unavailable", new LedgerLinkError("unsupported", reason));
}
