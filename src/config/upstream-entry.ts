import type { UpstreamConfig } from "../upstream/upstream.ts";
import { AdditionError } from "./add-entries.ts";
import { checkFile } from "./file.ts";
import type { Environment } from "./placeholders.ts";
import { createProblems } from "./problems.ts";
import { readSettings } from "./settings.ts";

/**
 * Reads the members of one upstream as a configuration file with it alone is read, by the same rules. Throws
 * {@link AdditionError} with the first problem, which holds no value of a variable.
 */
export function readUpstreamEntry(name: string, entry: object, values: Environment): UpstreamConfig {
  const problems = createProblems();
  // JSON is YAML.
  const text = JSON.stringify({ upstreams: { [name]: entry } });
  const variables = { values, faults: {} };
  const { content } = checkFile(
    { kind: "text", text, writtenAtS: 0 },
    variables,
    { mayBeAbsent: true },
    problems,
  );
  const [problem] = problems.list();
  if (problem) throw new AdditionError(`${problem}.`);
  const [upstream] = readSettings(content).upstreams;
  if (!upstream) throw new AdditionError(`The upstream ${name} cannot be read.`);
  return upstream;
}
