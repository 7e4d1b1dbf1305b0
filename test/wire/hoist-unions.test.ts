import { describe, expect, test } from "bun:test";
import { describeUnions, hoistUnions } from "../../src/wire/hoist-unions.ts";

const text = { type: "string" };
const count = { type: "integer" };

describe("a tool's schema without unions at its top", () => {
  test("is kept and gets the type object", () => {
    expect(hoistUnions({ properties: { a: text } })).toEqual({
      schema: { type: "object", properties: { a: text } },
      unions: undefined,
    });
  });

  test("is resolved if it is a reference within itself", () => {
    const $defs = { "a/b~c": { type: "object", properties: { a: text }, required: ["a"] } };
    expect(hoistUnions({ $ref: "#/$defs/a~1b~0c", $defs })).toEqual({
      schema: { type: "object", properties: { a: text }, required: ["a"], $defs },
      unions: undefined,
    });
  });

  test.each<[string, object]>([
    ["points to nothing", { $ref: "#/$defs/none" }],
    ["points to another document", { $ref: "https://example.com/schema" }],
    ["is circular", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }],
    ["points to a prototype", { $ref: "#/constructor/prototype" }],
    ["is not a string", { $ref: 7 }],
  ])("is kept if its reference %s", (_, schema) => {
    expect(hoistUnions({ ...schema })).toEqual({ schema: { ...schema, type: "object" }, unions: undefined });
  });
});

describe("unions at the top of a tool's schema", () => {
  test("are joined at any depth, and only properties that all alternatives require are required", () => {
    const schema = {
      allOf: [
        { properties: { a: text }, required: ["a"], anyOf: [{ properties: { b: count }, required: ["b"] }] },
        { $ref: "#/$defs/c" },
      ],
      $defs: { c: { properties: { c: text }, required: ["c"] } },
    };
    const { schema: hoisted, unions } = hoistUnions(schema);
    expect(hoisted).toEqual({
      type: "object",
      properties: { a: text, b: count, c: text },
      required: ["a", "c"],
      $defs: schema.$defs,
    });
    expect(unions).toEqual({ allOf: schema.allOf });
    expect(describeUnions(undefined, unions)).toContain('"allOf"');
  });

  test("are described if they are `enum` or `not`", () => {
    const schema = { type: "object", properties: { a: text }, enum: [{ a: "x" }], not: { required: ["b"] } };
    expect(hoistUnions(schema)).toEqual({
      schema: { type: "object", properties: { a: text }, required: [] },
      unions: { enum: schema.enum, not: schema.not },
    });
  });

  test("that contain each other are printed within a bound", () => {
    const refs: object[] = [];
    let inner: object = { type: "string", description: "d".repeat(8 * 1024 * 1024) };
    for (let depth = 0; depth < 400; depth += 1) {
      inner = { properties: { p: inner } };
      refs.push({ $ref: `#/$defs/a${"/properties/p".repeat(depth)}` });
    }
    const { schema } = hoistUnions({ anyOf: refs, $defs: { a: inner } });
    expect(Object.keys(Object(schema.properties))).toEqual(["p"]);
  });

  test("with a hundred thousand references to one large object resolve the object once", () => {
    const names = Array.from({ length: 1000 }, (_, at) => [`p${at}`, text] as const);
    const schema = {
      anyOf: Array.from({ length: 100_000 }, () => ({ $ref: "#/$defs/a" })),
      $defs: { a: { properties: Object.fromEntries(names), anyOf: [{ $ref: "#/$defs/a" }] } },
    };
    expect(Object.keys(Object(hoistUnions(schema).schema.properties))).toHaveLength(1000);
  });
});
