import { api, call } from "./api.ts";

const CHANNEL = "tollgate-proof";
/** An answer comes as its window closes, and may come after the focus. */
const LEFT_MS = 1_500;
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
  // Browsers hide the state of a window that is at another site: when this page has the focus again, it was closed or left.
  const left = () => setTimeout(() => resolve("left"), LEFT_MS);
  try {
    const { location } = await call(() => api.me.confirm({ provider }).post());
    if (!opened) {
      throw new Error("The browser blocked the window of the provider: allow it and try again.");
    }
    opened.location = location;
    addEventListener("focus", left);
    return await promise;
  } catch (fault) {
    opened?.close();
    throw fault;
  } finally {
    removeEventListener("focus", left);
    channel.close();
  }
}
