// Fills a file by batches of three lines until one fails, and prints the lines delivered and the problem.
import { createFileSink } from "../../src/exports/file-sink.ts";
import { batchOf } from "./lines.ts";

const sink = createFileSink({ path: Bun.argv[2] ?? "", rotate: "size", rotateBytes: 1_000_000 });
const { signal } = new AbortController();
for (let delivered = 0; ; delivered += 3) {
  const fault = await sink.deliver(batchOf("a", "b", "c"), signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (fault === undefined) continue;
  console.log(JSON.stringify({ delivered, problem: fault instanceof Error ? fault.message : "" }));
  break;
}
