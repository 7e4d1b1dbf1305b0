import type { Printed, Soon } from "../bodies/body.ts";
import type { CallBody } from "../upstream/upstream.ts";

/** Prints a body for an upstream now, and again when it is sent for another time. */
export async function printCallBody(print: () => Soon<Printed>): Promise<CallBody> {
  let printed: Printed | undefined = await print();
  return {
    bytes: typeof printed === "string" ? Buffer.byteLength(printed) : printed.byteLength,
    take() {
      const taken = printed ?? print();
      printed = undefined;
      return taken;
    },
  };
}
