import type { Seen } from "./house/play-case.ts";

const BODY_CHARS = 6_000;

/** A wrong case in words: how to make it again, what was asked, what the upstreams said. */
export function printWrong({ case: { id, client, model, body, steps }, wrong, status, calls }: Seen): string {
  return [
    `case ${id.number} of seed ${id.seed}: ${wrong} (status ${status})`,
    `  ${client} to ${model}, mutations: ${steps.join(", ") || "none"}; without: ${[...id.without].join(", ") || "none"}`,
    `  body: ${clip(body.toString())}`,
    ...calls.flatMap(({ form, body: sent, given: { answer, endless, steps: made } }) => {
      const { body: said, ...how } = answer;
      return [
        `  sent as ${form}: ${clip(sent)}`,
        `  answered (${made.join(", ") || "no mutations"}) ${JSON.stringify({ ...how, endless })}: ${clip(Buffer.from(said).toString())}`,
      ];
    }),
  ].join("\n");
}

/** How the cases ended, by client and kind of upstream: that a run went deep can be seen from it. */
export function createCounts() {
  const counts = new Map<string, number>();
  return {
    add({ case: { client, model }, reading, wrong, status }: Seen): void {
      const failure = reading?.ended === "failed" ? `${reading.row.code} ${status}` : "finished";
      const key = `${client} to ${model.split("-")[0]}: ${wrong === undefined ? failure : "WRONG"}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    of: (key: string) => counts.get(key) ?? 0,
    print: () =>
      [...counts]
        .sort(([one], [other]) => one.localeCompare(other))
        .map(([key, count]) => `${String(count).padStart(8)}  ${key}`)
        .join("\n"),
  };
}

function clip(text: string): string {
  return text.length <= BODY_CHARS ? text : `${text.slice(0, BODY_CHARS)}… (${text.length} characters)`;
}
