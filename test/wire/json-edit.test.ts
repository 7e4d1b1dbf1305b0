import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { editElements, editMembers, findMember, once, type ValueEdit } from "../../src/wire/json/edit.ts";
import { leastCpuMs } from "../support/cpu-time.ts";

const KEYS = ["model", "n", "stream_options", "__proto__", "constructor", "", 'a"b', "ключ", "𝄞", "\\"];

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const value = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '"\\"}],{"',
    '"\\\\"',
    '"\\\\\\""',
    '"\\u0022:"',
    "-0.5e+3",
    "[ ]",
    "{ }",
    '[{"model":"x"}]',
    '"\\/"',
  ),
);
/** A key in either of two spellings: plain, or with every character escaped. */
const keyText = fc
  .tuple(fc.constantFrom(...KEYS), fc.boolean())
  .map(([key, isEscaped]) => ({ key, text: isEscaped ? escapeAll(key) : JSON.stringify(key) }));
const member = fc
  .tuple(keyText, value, space, space)
  .map(([key, text, before, after]) => ({ key: key.key, text: `${key.text}${before}:${after}${text}` }));
const object = fc
  .array(fc.tuple(member, space, space), { maxLength: 8 })
  .chain((members) => fc.tuple(fc.constant(members), space, space))
  .map(([members, before, after]) => ({
    members: members.map(([each]) => each),
    text: `${before}{${members.map(([each, left, right]) => left + each.text + right).join(",")}${members.length ? "" : after}}${after}`,
  }));
/** The edit of a key: keep it, drop it, or wrap its value. */
const edits = fc.dictionary(
  fc.constantFrom(...KEYS.filter((key) => key !== "__proto__")),
  fc.constantFrom("keep", "drop", "wrap"),
);
const EDITS: Record<string, ValueEdit> = {
  keep: once,
  drop: () => undefined,
  wrap: (text) => `[${text ?? ""}]`,
};

function escapeAll(key: string): string {
  const units = Array.from({ length: key.length }, (_, at) =>
    key.charCodeAt(at).toString(16).padStart(4, "0"),
  );
  return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
}

function entriesOf(text: string): Map<string, unknown> {
  return new Map(Object.entries(JSON.parse(text)));
}

function edited(text: string, plan: Record<string, string>): string {
  return editMembers(
    text,
    Object.fromEntries(Object.entries(plan).map(([key, how]) => [key, EDITS[how] ?? once])),
  );
}

describe("editMembers", () => {
  test("is equivalent to editing the parsed object", () => {
    fc.assert(
      fc.property(object, edits, ({ text }, plan) => {
        const expected = entriesOf(text);
        for (const [key, how] of Object.entries(plan)) {
          if (how === "drop") expected.delete(key);
          if (how === "wrap") expected.set(key, expected.has(key) ? [expected.get(key)] : []);
        }
        expect(entriesOf(edited(text, plan))).toEqual(expected);
      }),
      { numRuns: 3000 },
    );
  });

  test("keeps every byte and the order of all other members", () => {
    fc.assert(
      fc.property(object, edits, ({ text, members }, plan) => {
        let rest = edited(text, plan);
        for (const { key, text: raw } of members) {
          if (Object.hasOwn(plan, key)) continue;
          expect(rest).toContain(raw);
          rest = rest.slice(rest.indexOf(raw) + raw.length);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("changes nothing if no key is edited or repeated", () => {
    fc.assert(
      fc.property(object, ({ text, members }) => {
        fc.pre(new Set(members.map(({ key }) => key)).size === members.length);
        expect(editMembers(text, { model: once, absent: once, n: once })).toBe(text);
        expect(editMembers(text, {})).toBe(text);
      }),
    );
  });

  test("writes a repeated key that is only sent once with its last value, and adds none", () => {
    const text = '{"n":1,"model":"x","n":2,"other":1,"n":3,"other":2}';
    const sentOnce = new Set(["model", "n", "absent"]);
    expect(editMembers(text, { model: () => '"y"' }, sentOnce)).toBe(
      '{"n":3,"model":"y","other":1,"other":2}',
    );
  });

  test.each([
    ["replaces a value in place", '{ "a" : 1 ,"model":"x" }', '{ "a" : 1 ,"model":"y" }'],
    ["finds a key that is written in escapes", '{"mod\\u0065l":"x"}', '{"mod\\u0065l":"y"}'],
    [
      "writes a repeated key once, at its first position",
      '{"model":1,"a":2,"model":3}',
      '{"model":"y","a":2}',
    ],
    ["writes a key once that is repeated in escapes", '{"\\u006dodel":1,"model":3}', '{"\\u006dodel":"y"}'],
    [
      "does not edit nested members",
      '{"a":{"model":"x"},"b":"\\"model\\":1"}',
      '{"a":{"model":"x"},"b":"\\"model\\":1","model":"y"}',
    ],
    ["adds a member at the end", ' { "a": 1 } ', ' { "a": 1,"model":"y" } '],
    ["adds a member to an empty object", "{ }", '{"model":"y" }'],
  ])("%s", (_, text, result) => expect(editMembers(text, { model: () => '"y"' })).toBe(result));

  test.each([
    ['{"a":1,"b":2,"c":3}', { a: 1 }, '{"b":2,"c":3}'],
    ['{"a":1,"b":2,"c":3}', { b: 1 }, '{"a":1,"c":3}'],
    ['{"a":1,"b":2,"c":3}', { c: 1 }, '{"a":1,"b":2}'],
    ['{"a":1,"b":2,"c":3}', { a: 1, b: 1 }, '{"c":3}'],
    ['{"a":1,"b":2,"c":3}', { b: 1, c: 1 }, '{"a":1}'],
    ['{"a":1,"b":2,"c":3}', { a: 1, b: 1, c: 1 }, "{}"],
    ['{"a":1,"b":2,"a":3}', { a: 1 }, '{"b":2}'],
    ['{"a":1,"a":3}', { a: 1 }, "{}"],
  ])("removes members with their commas: %s", (text, keys, result) => {
    const drop: Record<string, ValueEdit> = {};
    for (const key of Object.keys(keys)) drop[key] = () => undefined;
    expect(editMembers(text, drop)).toBe(result);
  });

  test("passes the last value of a repeated key, as JSON.parse takes it", () => {
    const seen: (string | undefined)[] = [];
    editMembers('{"n":1,"x":0,"n": 2 }', {
      n: (text) => {
        seen.push(text);
        return text;
      },
    });
    expect(seen).toEqual(["2"]);
  });

  test("composes for nested objects", () => {
    const result = editMembers('{"a": {"b" : [1] , "c":2}}', {
      a: (text) => text && editMembers(text, { b: () => "0" }),
    });
    expect(result).toBe('{"a": {"b" : 0 , "c":2}}');
  });

  test("skips a deeply nested value as one value", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    expect(editMembers(`{"a":${deep},"model":"x"}`, { model: () => '"y"' })).toBe(
      `{"a":${deep},"model":"y"}`,
    );
  });

  test("edits a body with 30 MiB of base64 in under 500 ms", () => {
    const text = `{"image":"${"A".repeat(30 * 1024 * 1024)}","model":"x"}`;
    text.indexOf("x");
    const edit = () => expect(editMembers(text, { model: () => '"y"' }).length).toBe(text.length);
    expect(leastCpuMs(edit)).toBeLessThan(500);
  });

  test("takes linear time in backslashes and quotes", () => {
    const text = `{"a":"${'\\\\\\"'.repeat(1_000_000)}${"\\\\".repeat(2_000_000)}","model":"x"}`;
    const edit = () => expect(editMembers(text, { model: () => '"y"' })).toEndWith('"model":"y"}');
    expect(leastCpuMs(edit)).toBeLessThan(1000);
  });
});

describe("editElements", () => {
  test("edits each element in place", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(value, space, space)), space, (elements, inner) => {
        const print = (wrap: (text: string) => string) =>
          `[${elements.map(([text, left, right]) => left + wrap(text) + right).join(",")}${elements.length ? "" : inner}]`;
        const positions: number[] = [];
        const result = editElements(
          print((text) => text),
          (text, position) => {
            positions.push(position);
            return `{"v":${text}}`;
          },
        );
        expect(result).toBe(print((text) => `{"v":${text}}`));
        expect(positions).toEqual(elements.map((_, position) => position));
      }),
    );
  });
});

describe("findMember", () => {
  test("returns the position of the only member's value", () => {
    const text = '{"a":{"model":1}, "model" : "x" }';
    const found = findMember(text, "model");
    expect(text.slice(found?.start, found?.end)).toBe('"x"');
  });

  test("returns undefined for a missing or repeated key", () => {
    expect(findMember('{"a":1}', "model")).toBeUndefined();
    expect(findMember('{"model":1,"mod\\u0065l":2}', "model")).toBeUndefined();
  });
});
