import type { Mutation } from "../../gen/tollgate/ledger/v1/Mutation.ts";
import type { MutationResult__Output } from "../../gen/tollgate/ledger/v1/MutationResult.ts";
import { LedgerError } from "../../ledger/ledger.ts";
import { encodeDuration } from "../codec/fields.ts";
import { readRefusal } from "../codec/status.ts";
import { LedgerLinkError } from "./link-error.ts";

/** The mutations that are not answered: first those on their way, in numbered messages, then those that wait. */
export interface Outbox {
  readonly waits: number;
  readonly isEmpty: boolean;
  put(pending: Pending): void;
  /** The next message to send, its number from 1; `undefined` when nothing waits or the window is full. */
  next(): Message | undefined;
  /** Takes an answered message out; `undefined` when none of this number and length is on its way. */
  take(sequence: number, length: number): readonly Pending[] | undefined;
  /** All that was on its way waits again, before everything else and in its order. */
  putBack(): void;
  /** The same when a message was not readable; returns the mutation to blame once it was alone. */
  putBackSuspects(): Pending | undefined;
  /** Refuses what has waited too long; returns whether any of it was on its way. */
  refuseLate(nowMs: number, error: LedgerError): boolean;
  refuseAll(error: LedgerError): void;
}

interface Message {
  readonly sequence: number;
  readonly mutations: readonly Pending[];
}

/** Mutations of one message at most. The service takes more; but while it works on one, it is sent the next. */
const MESSAGE_MAX = 128;

/** An outbox that lets at most `windowMax` messages be unanswered. All mutations may wait equally long. */
export function createOutbox(windowMax: number): Outbox {
  const sent = new Map<number, readonly Pending[]>();
  let waiting: Pending[] = [];
  let sequence = 0;
  let sizeMax = MESSAGE_MAX;
  /** One of so many of the next mutations made a message unreadable. */
  let suspects = 0;

  const putBack = () => {
    waiting = [...sent.values(), waiting].flat().filter(({ isAnswered }) => !isAnswered);
    sent.clear();
  };
  const takeSendable = () => {
    const nowMs = Date.now();
    return waiting.splice(0, sizeMax).filter((each) => isSendable(each, nowMs));
  };

  return {
    get waits() {
      return waiting.length;
    },
    get isEmpty() {
      return waiting.length === 0 && sent.size === 0;
    },
    put: (pending) => waiting.push(pending),
    next() {
      // One message at a time while there are suspects, so that it is known which one was unreadable.
      if (sent.size >= (suspects > 0 ? 1 : windowMax)) return undefined;
      while (waiting.length > 0) {
        const mutations = takeSendable();
        if (mutations.length === 0) continue;
        sequence += 1;
        for (const each of mutations) each.sends += 1;
        sent.set(sequence, mutations);
        return { sequence, mutations };
      }
      return undefined;
    },
    take(answered, length) {
      const mutations = sent.get(answered);
      if (mutations?.length !== length) return undefined;
      sent.delete(answered);
      suspects = Math.max(0, suspects - length);
      if (suspects === 0) sizeMax = MESSAGE_MAX;
      return mutations;
    },
    putBack,
    putBackSuspects() {
      const sizes = [...sent.values()].map(({ length }) => length);
      const isFound = sizes.length === 1 && sizes[0] === 1;
      putBack();
      suspects = isFound ? 0 : sizes.reduce((sum, size) => sum + size, 0);
      sizeMax = isFound ? MESSAGE_MAX : Math.ceil(Math.max(1, ...sizes) / 2);
      return isFound ? waiting.shift() : undefined;
    },
    refuseLate(nowMs, error) {
      const isLate = ({ giveUpAtMs, isAnswered }: Pending) => giveUpAtMs <= nowMs && !isAnswered;
      const lateSent = [...sent.values()].flat().filter(isLate);
      const inTime = waiting.findIndex(({ giveUpAtMs }) => giveUpAtMs > nowMs);
      const lateWaiting = waiting.splice(0, inTime < 0 ? waiting.length : inTime);
      for (const each of [...lateSent, ...lateWaiting]) refuse(each, error);
      return lateSent.length > 0;
    },
    refuseAll(error) {
      putBack();
      for (const each of waiting.splice(0)) refuse(each, error);
    },
  };
}

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
