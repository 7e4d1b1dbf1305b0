import type { Deed, Errand } from "../errand.ts";
import type { UpstreamKind } from "../upstreams.ts";

/** A coding agent: a third-party program that works with a model until an errand is done. */
export interface Agent {
  /** Name on the command line of this script. */
  readonly name: string;
  /** Id of the client in `bun tollgate clients`, whose settings the agent runs with. */
  readonly client: string;
  readonly pack: Package;
  /** The API with which the agent calls the gateway. */
  readonly surface: "chat" | "messages" | "responses" | "gemini";
  /** The upstreams that it runs with. */
  readonly upstreams: readonly UpstreamKind[];
  /** The agent's main model, and its model for small tasks. */
  readonly models: readonly [main: string, small: string];
  /** The tools that the scripted model calls. */
  readonly tools: Toolbox;
  /** Whether the agent sends calls back without Gemini's signatures. */
  readonly dropsSignatures?: true;
  /** Whether its context gets full within the errand, so that it asks for a summary. */
  readonly compacts?: true;
  /** The service tier that it asks for. */
  readonly tier?: "priority";
  /** Returns arguments of a run of the program that comes first, such as one that stores a provider. */
  setUp?(place: Place): readonly string[];
  /** Returns the command that starts the agent in an empty folder. */
  start(place: Place, errand: Errand): Command;
}

/** The npm package of an agent. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** Glob patterns of its program below node_modules, for every platform. */
  readonly programs: readonly string[];
}

/** One call of a tool that the agent offers. */
export interface ToolUse {
  readonly name: string;
  /** A string for a free-form tool, and otherwise an object. */
  readonly input: string | Readonly<Record<string, unknown>>;
}

/** How an agent does each deed. `path` is absolute. Without an own tool, the shell does it. */
export interface Toolbox {
  run(command: string): ToolUse;
  write?(file: { readonly path: string; readonly name: string; readonly text: string }): ToolUse;
  read?(file: { readonly path: string }): ToolUse;
  edit?(file: {
    readonly path: string;
    readonly name: string;
    readonly before: string;
    readonly after: string;
  }): ToolUse;
}

/** Returns the call that does a deed in a folder. */
export function useFor(tools: Toolbox, deed: Deed, folder: string): ToolUse {
  if (deed.does === "run") return tools.run(deed.command);
  const { file: name } = deed;
  const path = `${folder}/${name}`;
  if (deed.does === "read") return tools.read?.({ path }) ?? tools.run(`cat ${name}`);
  if (deed.does === "write") {
    const { text } = deed;
    const lines = text.trimEnd().split("\n");
    const quoted = lines.map((line) => `'${line}'`).join(" ");
    return tools.write?.({ path, name, text }) ?? tools.run(`printf '%s\\n' ${quoted} > ${name}`);
  }
  const { before, after } = deed;
  return tools.edit?.({ path, name, before, after }) ?? tools.run(`sed -i 's/${before}/${after}/' ${name}`);
}

/** The surroundings of one run of an agent. */
interface Place {
  /** The agent's home folder, empty at the start. */
  readonly home: string;
  /** Base address of the gateway, without a path. */
  readonly gatewayUrl: string;
  readonly key: string;
}

interface Command {
  readonly args: readonly string[];
  /** Environment variables in addition to those of every agent. */
  readonly environment: Readonly<Record<string, string>>;
}
