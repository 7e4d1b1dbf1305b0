import type * as Proto from "../../gen/messages.ts";
import { LedgerError } from "../../ledger/ledger.ts";
import { platform } from "../../platform.ts";
import { encodeDuration } from "../codec/fields.ts";
import { decodeError } from "../codec/status.ts";
import { LedgerLinkError } from "./link-error.ts";

/** The unanswered mutations: those sent, in numbered messages, and those waiting to be sent. */
export interface SendQueue {
  /** The number of mutations that wait to be sent. */
  readonly waiting: number;
  readonly isEmpty: boolean;
  put(pending: Pending): void;
  /**
   * Returns the next message to send, numbered from 1; `undefined` when nothing waits or the window is full.
   */
  next(): Message | undefined;
  /** Removes an answered message. Returns `undefined` when no sent message has this number and length. */
  take(sequence: number, length: number): readonly Pending[] | undefined;
  /** Moves every sent mutation back to the front of the waiting ones, in order. */
  putBack(): void;
  /**
   * Like `putBack`, after the server could not decode a message. From then on, messages are halved and sent
   * one by one. Once the bad mutation is alone in its message, removes and returns it.
   */
  putBackHalved(): Pending | undefined;
  /** Rejects the mutations whose time is up. Returns whether any of them had been sent. */
  rejectLate(nowMs: number, error: LedgerError): boolean;
  rejectAll(error: LedgerError): void;
}

interface Message {
  readonly sequence: number;
  readonly mutations: readonly Pending[];
}

/**
 * Mutations per message. The service accepts more, but smaller messages let it decode one while it applies
 * another.
 */
const MESSAGE_MAX = 128;

/**
 * Creates a queue with at most `windowMax` unanswered messages. Every mutation must have the same time to
 * live.
 */
export function createSendQueue(windowMax: number): SendQueue {
  const sent = new Map<number, readonly Pending[]>();
  let waiting: Pending[] = [];
  let sequence = 0;
  let sizeMax = MESSAGE_MAX;
  /** The number of next mutations among which the bad one is; 0 while no bad mutation is sought. */
  let suspects = 0;

  const putBack = () => {
    waiting = [...sent.values(), waiting].flat().filter(({ isAnswered }) => !isAnswered);
    sent.clear();
  };
  const takeSendable = () => {
    const nowMs = platform.now();
    return waiting.splice(0, sizeMax).filter((each) => isSendable(each, nowMs));
  };

  return {
    get waiting() {
      return waiting.length;
    },
    get isEmpty() {
      return waiting.length === 0 && sent.size === 0;
    },
    put: (pending) => waiting.push(pending),
    next() {
      // While a bad mutation is sought, one message at a time shows which of them was bad.
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
    putBackHalved() {
      const sizes = [...sent.values()].map(({ length }) => length);
      const isFound = sizes.length === 1 && sizes[0] === 1;
      putBack();
      suspects = isFound ? 0 : sizes.reduce((sum, size) => sum + size, 0);
      sizeMax = isFound ? MESSAGE_MAX : Math.ceil(Math.max(1, ...sizes) / 2);
      return isFound ? waiting.shift() : undefined;
    },
    rejectLate(nowMs, error) {
      const isLate = ({ giveUpAtMs, isAnswered }: Pending) => giveUpAtMs <= nowMs && !isAnswered;
      const lateSent = [...sent.values()].flat().filter(isLate);
      const inTime = waiting.findIndex(({ giveUpAtMs }) => giveUpAtMs > nowMs);
      const lateWaiting = waiting.splice(0, inTime < 0 ? waiting.length : inTime);
      for (const each of [...lateSent, ...lateWaiting]) rejectPending(each, error);
      return lateSent.length > 0;
    },
    rejectAll(error) {
      putBack();
      for (const each of waiting.splice(0)) rejectPending(each, error);
    },
  };
}

/** A mutation as submitted, with the callbacks of its caller. */
export interface Submission {
  readonly mutation: Proto.Mutation;
  /** Called with the result of a mutation that the ledger applied. */
  readonly accept: (result: Proto.MutationResult__Output) => void;
  readonly reject: (error: LedgerError) => void;
  /** Unix milliseconds after which the mutation must not be applied; only a hold has a deadline. */
  readonly deadlineMs: number | undefined;
}

/** A mutation until it is answered. */
export interface Pending extends Submission {
  /** On the clock that cannot be set. */
  readonly giveUpAtMs: number;
  /** How often the mutation was sent. Above 1 the results of the earlier tries are unknown. */
  sends: number;
  isAnswered: boolean;
}

/** Whether the mutation may be sent. Rejects it when it is past its deadline. */
function isSendable(pending: Pending, nowMs: number): boolean {
  if (pending.isAnswered) return false;
  if (pending.deadlineMs === undefined || pending.deadlineMs >= nowMs) return true;
  rejectPending(pending, new LedgerError(pending.sends === 0 ? "deadline_exceeded" : "unavailable"));
  return false;
}

/** Encodes a deadline as the time that is left, because the clocks of two hosts differ. */
export function withTimeout({ mutation, deadlineMs }: Pending): Proto.Mutation {
  if (deadlineMs === undefined || !mutation.createHold) return mutation;
  return {
    ...mutation,
    createHold: { ...mutation.createHold, timeout: encodeDuration(deadlineMs - platform.now()) },
  };
}

/** Answers every mutation of a message with its result. A mutation that was given up stays rejected. */
export function answerMessage(
  message: readonly Pending[],
  results: readonly Proto.MutationResult__Output[],
): void {
  for (const [index, pending] of message.entries()) {
    const result = results[index];
    if (!result) continue;
    if (!result.status) acceptPending(pending, result);
    else rejectPending(pending, errorOfAllTries(decodeError(result.status) ?? invalidAnswer(), pending));
  }
}

function acceptPending(pending: Pending, result: Proto.MutationResult__Output): void {
  if (pending.isAnswered) return;
  pending.isAnswered = true;
  try {
    pending.accept(result);
  } catch (error) {
    pending.reject(invalidAnswer(error));
  }
}

export function rejectPending(pending: Pending, error: LedgerError): void {
  if (pending.isAnswered) return;
  pending.isAnswered = true;
  pending.reject(error);
}

/**
 * After a retry, "the last try was not applied" leaves the result of the earlier tries unknown:
 * `unavailable`.
 */
function errorOfAllTries(error: LedgerError, { sends }: Pending): LedgerError {
  const isOfOneTry = error.code === "deadline_exceeded" || error.code === "queue_full";
  return isOfOneTry && sends > 1 ? new LedgerError("unavailable", error) : error;
}

function invalidAnswer(reason?: unknown): LedgerError {
  return new LedgerError("unavailable", new LedgerLinkError("unsupported", reason));
}
