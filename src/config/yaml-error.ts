/** Collections within each other, with those that aliases stand for. */
export const YAML_DEPTH_MAX = 64;

/** A document that cannot be read as a whole, in the words of a problem. */
export class YamlError extends Error {
  override readonly name = "YamlError";
  readonly wrong: string;
  readonly expected: string;

  constructor(wrong: string, expected: string) {
    super(wrong);
    this.wrong = wrong;
    this.expected = expected;
  }
}
