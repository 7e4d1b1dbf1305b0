import { expect, test } from "bun:test";
import { ClientSignal } from "../../src/http/reply.ts";

/** A signal of a client, with the names of the listeners that were called. */
function connect() {
  const client = new AbortController();
  const called: string[] = [];
  return {
    signal: new ClientSignal(client.signal),
    called,
    listener: (name: string) => () => void called.push(name),
    disconnect: () => client.abort(),
  };
}

test("a disconnect calls the listener once", () => {
  const { signal, called, listener, disconnect } = connect();
  signal.addEventListener("abort", listener("first"));
  expect(signal.aborted).toBe(false);
  disconnect();
  disconnect();
  expect(signal.aborted).toBe(true);
  expect(called).toEqual(["first"]);
});

test("a disconnect calls the listener of the latest attempt only", () => {
  const { signal, called, listener, disconnect } = connect();
  signal.addEventListener("abort", listener("first"));
  signal.removeEventListener();
  signal.addEventListener("abort", listener("second"));
  disconnect();
  expect(called).toEqual(["second"]);
});

test("a disconnect between two attempts calls no listener, and is seen by the next attempt", () => {
  const { signal, called, listener, disconnect } = connect();
  signal.addEventListener("abort", listener("first"));
  signal.removeEventListener();
  disconnect();
  expect(called).toEqual([]);
  expect(signal.aborted).toBe(true);
});
