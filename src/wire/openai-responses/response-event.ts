import { printSse } from "../sse.ts";

/** An event that says how a response as a whole stands; `response` is JSON. */
export function printResponseEvent(
  type: `response.${string}`,
  { sequenceNumber, response }: { readonly sequenceNumber: number; readonly response: string },
): string {
  const data = `{"type":"${type}","sequence_number":${sequenceNumber},"response":${response}}`;
  return printSse({ event: type, data });
}
