import type { LedgerError } from "../../ledger/ledger.ts";
import { isSendable, type Pending, refuse } from "./pending.ts";

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
