/** The JSON schema of a tool. */
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

/** A tool name of an MCP server, longer than OpenAI allows. */
export const LONG_NAME = `mcp__weather_service__${"forecast_".repeat(6)}for_city`;
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk";
/** The model of every seed request; replaced by that of the lane. */
export const MODEL = "MODEL-LANE00";
