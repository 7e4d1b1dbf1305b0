/** A geographic prefix of an inference profile (`us.`, `apac.`, `global.`), then the vendor of the model. */
const VENDOR = /(?:^|\/)(?:(?:[a-z]{2}|apac|us-gov|global)\.)?([a-z][a-z0-9-]*)\.[^/]*$/;

/**
 * Returns the vendor of a model on Bedrock by its id or ARN, such as "anthropic" or "amazon"; `undefined` for
 * an ARN that hides it, as that of an application inference profile does.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
 */
export function readVendor(model: string): string | undefined {
  return VENDOR.exec(model)?.[1];
}

/** Vendors whose models cannot be held to a JSON schema. */
const WITHOUT_SCHEMAS: ReadonlySet<string | undefined> = new Set([
  undefined,
  "ai21",
  "amazon",
  "cohere",
  "meta",
  "writer",
]);

/** What Converse accepts for a model, where it depends on the vendor. */
export interface ModelFeatures {
  readonly isClaude: boolean;
  readonly isAmazon: boolean;
  /** Whether messages and system prompt may have cache points. */
  readonly cachesPrompts: boolean;
  /** Whether a tool result may say that the tool failed. */
  readonly hasResultStatus: boolean;
  /** Whether answers can be held to a JSON schema. */
  readonly enforcesSchemas: boolean;
}

/**
 * Returns the features of a model. `isClaude` is known from the route's traits where the id hides the vendor.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html
 */
export function featuresOf(model: string, hasThinking: boolean): ModelFeatures {
  const vendor = readVendor(model);
  const isClaude = vendor === "anthropic" || (vendor === undefined && hasThinking);
  const isAmazon = vendor === "amazon";
  return {
    isClaude,
    isAmazon,
    cachesPrompts: isClaude || isAmazon,
    hasResultStatus: isClaude || isAmazon,
    enforcesSchemas: isClaude || !WITHOUT_SCHEMAS.has(vendor),
  };
}
