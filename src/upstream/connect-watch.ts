import { type Deadline, SharedTimer } from "../platform.ts";
import type { CallObserver } from "./upstream.ts";

/** A host that answered this recently has a connection for the next call, or accepts one. */
const LATELY_MS = 1_000;

/** A call that was sent without a connect probe. */
interface WatchedCall {
  /** The host has answered, or the call has failed. */
  end(): void;
}

/**
 * Follows when a host answers. Calls to a host that answered lately are sent without a connect probe, which
 * would cost each 20 µs. A host may be lost in just that second: such calls are watched.
 */
export interface ConnectWatch {
  /** Whether the host has ever answered. */
  readonly hasAnswered: boolean;
  /** Whether the host answered within the last second. */
  hasAnsweredLately(): boolean;
  answered(): void;
  /**
   * Watches a call without a probe. When the host answers nothing, not even other calls, for half of the
   * connect limit, the host is probed for the other half. Calls `unreachable` when no connection is made.
   */
  start(url: string, observer: Pick<CallObserver, "unreachable">): WatchedCall;
}

export interface ConnectWatchOptions {
  /** Time limit of a connection, in milliseconds. */
  readonly connectMs: number;
  /** Resolves with whether a connection was made within `ms`. Never rejects. */
  probe(url: string, ms: number): Promise<boolean>;
}

export function createConnectWatch({ connectMs, probe }: ConnectWatchOptions): ConnectWatch {
  const clock = () => performance.now();
  const timer = new SharedTimer(clock);
  let answeredAt = -Infinity;
  /** Calls that fall silent together share one probe. */
  let probing: Promise<boolean> | undefined;

  async function isReachable(url: string): Promise<boolean> {
    probing ??= probe(url, connectMs / 2).finally(() => {
      probing = undefined;
    });
    return probing;
  }

  class Watched implements WatchedCall, Deadline {
    readonly #startedAt = clock();
    readonly #url: string;
    readonly #observer: Pick<CallObserver, "unreachable">;
    #isEnded = false;

    constructor(url: string, observer: Pick<CallObserver, "unreachable">) {
      this.#url = url;
      this.#observer = observer;
      timer.add(this);
    }

    end(): void {
      this.#isEnded = true;
      timer.delete(this);
    }

    dueAt(): number {
      return this.#startedAt + connectMs / 2;
    }

    onDue(): void {
      if (answeredAt > this.#startedAt) return;
      void isReachable(this.#url).then((reachable) => {
        if (!reachable && !this.#isEnded) this.#observer.unreachable();
      });
    }
  }

  return {
    get hasAnswered() {
      return answeredAt > -Infinity;
    },
    hasAnsweredLately: () => clock() - answeredAt < LATELY_MS,
    answered() {
      answeredAt = clock();
    },
    start: (url, observer) => new Watched(url, observer),
  };
}
