import { isRow } from "./litellm-facts.ts";
import { listOf, type Row } from "./table.ts";

/** Settings of fallbacks without a counterpart. */
const OTHER_FALLBACKS = ["default_fallbacks", "context_window_fallbacks", "content_policy_fallbacks"];

/** Returns the settings of fallbacks that have no counterpart, each as a problem. */
export function findOtherFallbacks({
  litellm_settings: settings,
  router_settings: router,
}: Row): readonly string[] {
  const sections = [settings, router].filter(isRow);
  const found = OTHER_FALLBACKS.filter((name) => sections.some((section) => isSet(section[name])));
  return found.map((name) => `${name}: has no counterpart, write routes for it`);
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}

/** Reads the fallbacks of models. */
export function readFallbacks({ litellm_settings: settings, router_settings: router }: Row) {
  const lists = [settings, router].filter(isRow).flatMap(({ fallbacks }) => fallbacks);
  const pairs = lists.filter(isRow).flatMap((each) => Object.entries(each));
  return new Map(pairs.map(([name, list]) => [name, listOf(list)] as const));
}
