import { expect, test } from "bun:test";
import { nameOfLine, printLinePrice } from "../../src/console/pages/requests/arithmetic.tsx";

test.each([
  ["cached_input", "0.10", "Input from the cache", "0.10"],
  ["audio.input", "40.00", "Audio input", "40.00"],
  ["image", "40000.00", "Images", "0.04"],
  ["web_search", "12000.00", "Calls of web search", "0.012 each"],
  ["request", "5000.00", "Fee of the request", "0.005 each"],
])("a receipt's line of the class %s at %s USD per million reads: %s, × %s", (name, usd, title, price) => {
  const line = { class: name, price_usd_per_million: usd };
  expect([nameOfLine(line), printLinePrice(line)]).toEqual([title, price]);
});
