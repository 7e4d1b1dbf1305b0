import { api, call } from "./api.ts";

const CHANNEL = "tollgate-proof";
const WINDOW = "popup,width=520,height=680";

/** Tells the window that asked for a fresh proof at a provider how it ended. */
export function announceProof(problem: string | undefined): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(problem ?? "");
  channel.close();
}

/**
 * Asks for a fresh proof at a provider, in a window of its own, so that this page keeps what was typed. Resolves with the
 * word of the problem, or "". Must be called in a click: browsers open no window otherwise.
 */
export async function proveAtProvider(provider: string): Promise<string> {
  const opened = window.open("", CHANNEL, WINDOW);
  const { promise, resolve } = Promise.withResolvers<string>();
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => resolve(typeof data === "string" ? data : "provider");
  try {
    const { location } = await call(() => api.me.confirm({ provider }).post());
    if (opened) opened.location = location;
    else throw new Error("The browser blocked the window of the provider: allow it and try again.");
    return await promise;
  } catch (fault) {
    opened?.close();
    throw fault;
  } finally {
    channel.close();
  }
}
