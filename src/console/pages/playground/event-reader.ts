/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Returns a function that takes the next piece of a stream and returns the events that it completes.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function createEventReader(): (piece: string) => readonly ServerEvent[] {
  let rest = "";
  return (piece) => {
    const blocks = (rest + piece).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => readBlock(block) ?? []);
  };
}

/** Comments, which keep the connection open, are no events. */
function readBlock(block: string): ServerEvent | undefined {
  const lines = block.split("\n");
  const valuesOf = (name: string) =>
    lines.flatMap((line) => (line.startsWith(`${name}:`) ? [line.slice(name.length + 1).trimStart()] : []));
  const data = valuesOf("data");
  if (data.length === 0) return undefined;
  return { event: valuesOf("event").at(-1) ?? "message", data: data.join("\n") };
}
