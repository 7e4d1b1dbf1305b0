import type { Socket } from "node:net";
import type { Step } from "./script.ts";

/** Carries out the steps of a script on one socket, until they are over or the client has `gone`. */
export async function playScript(
  socket: Socket,
  gone: Promise<void>,
  steps: Iterable<Step> | AsyncIterable<Step>,
): Promise<"over" | "hung_up"> {
  for await (const step of steps) {
    if ("leave" in step) {
      if (step.leave === "reset") socket.resetAndDestroy();
      else if (step.leave === "close") socket.end();
      else await gone;
      return step.leave === "hang" ? "hung_up" : "over";
    }
    await Promise.race([gone, doStep(socket, step)]);
    if (socket.destroyed) return "hung_up";
  }
  return "over";
}

function doStep(socket: Socket, step: Exclude<Step, { leave: unknown }>): Promise<unknown> {
  if ("waitMs" in step) return Bun.sleep(step.waitMs);
  return "until" in step ? step.until : send(socket, step.send);
}

function send(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (socket.write(bytes)) resolve();
  else socket.once("drain", () => resolve());
  return promise;
}
