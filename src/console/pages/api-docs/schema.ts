/** A JSON schema of the description; only what the page draws. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
}

/** One member of a schema, as a line of a table. */
export interface Member {
  /** "items[].price.input" */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly text: string;
}

const DEPTH_MAX = 5;
const EXAMPLES: Readonly<Record<string, unknown>> = {
  string: "text",
  object: {},
  number: 1.5,
  boolean: true,
  null: null,
};

/** Lists the members of a schema and of what is inside of it. */
export function listMembers(schema: Schema, prefix = "", depth = 0): readonly Member[] {
  const object = objectOf(schema);
  if (!object?.properties || depth > DEPTH_MAX) return [];
  return Object.entries(object.properties).flatMap(([name, member]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const inner = itemsOf(member);
    return [
      {
        path,
        type: printType(member),
        isRequired: object.required?.includes(name) ?? false,
        text: member.description ?? printBounds(member),
      },
      ...listMembers(inner ?? member, inner ? `${path}[]` : path, depth + 1),
    ];
  });
}

/** Makes a value that fits a schema: members that must be there, with simple values. */
export function makeExample(schema: Schema, depth = 0): unknown {
  if (depth > DEPTH_MAX) return null;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.length) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const object = objectOf(schema);
  if (object?.properties) {
    const required = Object.entries(object.properties).filter(([name]) => object.required?.includes(name));
    return Object.fromEntries(required.map(([name, member]) => [name, makeExample(member, depth + 1)]));
  }
  const items = itemsOf(schema);
  if (items) return [makeExample(items, depth + 1)];
  const [choice] = schema.anyOf ?? schema.allOf ?? [];
  if (choice) return makeExample(choice, depth + 1);
  if (schema.format === "date-time") return "2026-11-22T12:00:00.000Z";
  if (schema.description?.startsWith("USD")) return "12.50";
  const [type = ""] = typesOf(schema);
  if (type === "integer") return Math.max(1, schema.minimum ?? 1);
  return EXAMPLES[type] ?? null;
}

/** "string", "integer | null", "array of object". */
export function printType(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const items = itemsOf(schema);
  if (items && !schema.anyOf) return `array of ${printType(items)}`;
  if (schema.anyOf) return [...new Set(schema.anyOf.map(printType))].join(" | ");
  return typesOf(schema).join(" | ") || "any";
}

function printBounds({ minimum, maximum, minLength, maxLength, format, pattern }: Schema): string {
  const parts = [
    minimum !== undefined && `from ${minimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && `to ${maximum}`,
    maxLength !== undefined && `${minLength ?? 0} to ${maxLength} characters`,
    format,
    pattern && `matches ${pattern}`,
  ];
  return parts.filter(Boolean).join(", ");
}

function objectOf(schema: Schema): Schema | undefined {
  if (schema.properties) return schema;
  return [...(schema.anyOf ?? []), ...(schema.allOf ?? [])].find(({ properties }) => properties);
}

function itemsOf(schema: Schema): Schema | undefined {
  return schema.items ?? schema.anyOf?.find(({ items }) => items)?.items;
}

function typesOf({ type }: Schema): readonly string[] {
  if (type === undefined) return [];
  return typeof type === "string" ? [type] : type;
}
