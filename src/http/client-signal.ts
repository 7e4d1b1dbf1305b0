import type { AbortSource } from "../gateway/request.ts";

/**
 * Aborts when the client has disconnected. It has one listener, because the attempts of a request follow each
 * other. Adding and removing a listener of the `AbortSignal` for each attempt costs four times as much.
 */
export class ClientSignal implements AbortSource {
  readonly #signal: AbortSignal;
  #listener: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get aborted(): boolean {
    return this.#signal.aborted;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listener = listener;
    this.#signal.onabort ??= () => this.#listener?.();
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }
}
