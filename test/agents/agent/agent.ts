import type { Task } from "../task.ts";

/** A coding agent: a third-party program that works with a model until a task is done. */
export interface Agent {
  /** Name on the command line of this script. */
  readonly name: string;
  /** Id of the client in `bun tollgate clients`, whose settings the agent runs with. */
  readonly client: string;
  readonly pack: Package;
  /** The API with which the agent calls the gateway. */
  readonly surface: "chat" | "messages" | "responses" | "gemini";
  /** The agent's main model, and its model for small tasks. */
  readonly models: readonly [main: string, small: string];
  /** The tool that the scripted model calls. */
  readonly tool: ToolUse;
  /** Returns arguments of a run of the program that comes first, such as one that stores a provider. */
  setUp?(place: Place): readonly string[];
  /** Returns the command that starts the agent in an empty folder. */
  start(place: Place, task: Task): Command;
}

/** The npm package of an agent. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** Glob patterns of its program below node_modules, for every platform. */
  readonly programs: readonly string[];
}

export interface ToolUse {
  /** Name of a tool that the agent offers. */
  readonly name: string;
  /** The input of the call: a string for a free-form tool, and otherwise an object. */
  input(task: Task): string | Readonly<Record<string, unknown>>;
  /** A text that the tool result must contain. */
  result(task: Task): string;
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
