/** The configuration cannot be used. Lists every problem there is; none names the value of a variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** Each "path: what is wrong, what is expected". */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
    super(`The configuration has ${count}:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}
