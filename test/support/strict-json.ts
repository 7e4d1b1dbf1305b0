/** One server-sent event. */
export interface Frame {
  readonly event: string | undefined;
  readonly json: Json | "[DONE]";
}

/** Parses a stream strictly. Throws at anything but complete events and comments. */
export function framesOf(body: string): Frame[] {
  assertRead(body === "" || body.endsWith("\n\n"), "a stream that ends within an event");
  const blocks = body.split("\n\n").slice(0, -1);
  return blocks.filter((block) => !block.startsWith(":")).map(readFrame);
}

function readFrame(block: string): Frame {
  let event: string | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) event = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
    else throw new Error("The client read a line that is no field");
  }
  const text = data.join("\n");
  return { event, json: text === "[DONE]" ? text : objectAt(JSON.parse(text), "an event") };
}

/** Throws unless the condition holds. `what` names what the client must not read. */
export function assertRead(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`The client read ${what}`);
}

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** Whether a value is an object, and neither null nor an array. */
export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a value as an object. Throws when it is none. */
export function objectAt(value: unknown, what: string): Json {
  assertRead(isObject(value), `no object as ${what}`);
  return value;
}

/** Returns a string, or "" for any other value. */
export function textAt(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns an array, or an empty one for any other value. */
export function listAt(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
