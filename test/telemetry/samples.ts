/**
 * Parses the text format of Prometheus into values by name and labels, as printed. Throws for other lines.
 */
export function readSamples(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("# "));
  return new Map(
    lines.map((line) => {
      const [, sample, value] = /^([a-z_\d]+(?:\{(?:[a-z_]+="[^"]*",?)+\})?) (\S+)$/.exec(line) ?? [];
      if (!sample || !value) throw new Error(`Not a sample: ${line}`);
      return [sample, Number(value)];
    }),
  );
}
