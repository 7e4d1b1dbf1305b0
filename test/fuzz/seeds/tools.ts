/** A tool's schema as clients have them. */
export const SCHEMA = {
  type: "object",
  properties: {
    city: { type: "string", description: "Where", minLength: 1 },
    days: { type: "integer", minimum: 1, maximum: 9 },
    units: { anyOf: [{ type: "string", enum: ["c", "f"] }, { type: "null" }] },
  },
  required: ["city"],
  additionalProperties: false,
};

/** As MCP servers name theirs: longer than OpenAI's hosts take. */
export const LONG_NAME = `mcp__weather_service__${"forecast_".repeat(6)}for_city`;
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk";
/** The model of a request, until the lane is known that plays it. */
export const MODEL = "MODEL-LANE00";
