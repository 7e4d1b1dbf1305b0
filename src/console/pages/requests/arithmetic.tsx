import { formatCount, localise, withPoint } from "../../format.ts";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import type { ReceiptData } from "../../queries/requests.ts";
import styles from "./receipt.module.css";

const CLASSES: Readonly<Record<string, string>> = {
  input: "Input",
  cached_input: "Input from the cache",
  cache_write: "Input written to the cache",
  cache_write_1h: "Input written to the one-hour cache",
  output: "Output",
  "audio.input": "Audio input",
  "audio.cached_input": "Audio input from the cache",
  "audio.output": "Audio output",
  "image.input": "Image input",
  "image.cached_input": "Image input from the cache",
  "image.output": "Image output",
  search: "Searches",
  image: "Images",
  character: "Characters",
  second: "Seconds of audio",
  other: "Other",
};

/** The classes of charges by unit, whose prices are of one each. */
const UNITS = ["search", "image", "character", "second"];
const MILLION_DIGITS = 6;

/** The charge as a sum that can be checked by hand: tokens or units × price per class, rounded up once. */
export function Arithmetic({ receipt }: { readonly receipt: ReceiptData }) {
  const { lines, rounding_usd, charged_usd, refunded_usd, source_text } = receipt;
  const { saved_by_caching_usd, upstream_cost_usd } = receipt;
  const isByUnit = lines.some((line) => UNITS.includes(line.class));
  return (
    <Panel title="How the charge was made" note={source_text}>
      <table className={styles.sum}>
        <caption className={stack.unseen}>{isByUnit ? "Number" : "Tokens"} × price = charge</caption>
        <thead>
          <tr>
            <th scope="col">{isByUnit ? "Charged for" : "Tokens of"}</th>
            <th scope="col">{isByUnit ? "Number" : "Tokens"}</th>
            <th scope="col">{isByUnit ? "USD each" : "USD per million"}</th>
            <th scope="col">Amount</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.class}>
              <th scope="row">{nameOfLine(line)}</th>
              <td>{line.class === "other" ? "" : formatCount(line.tokens)}</td>
              <td>{line.class === "other" ? "" : `× ${printLinePrice(line)}`}</td>
              <td>= {printAmount(line.amount_usd)}</td>
            </tr>
          ))}
          {isZero(rounding_usd) || (
            <tr>
              <th scope="row">Rounding up to a billionth of a dollar</th>
              <td />
              <td />
              <td>+ {printAmount(rounding_usd)}</td>
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Charged</th>
            <td />
            <td />
            <td>
              <Money usd={charged_usd} isExact />
            </td>
          </tr>
          {saved_by_caching_usd === null || isZero(saved_by_caching_usd) || (
            <tr>
              <th scope="row">Saved by prompt caching</th>
              <td />
              <td />
              <td>
                <Money usd={saved_by_caching_usd} isExact />
              </td>
            </tr>
          )}
          {isZero(refunded_usd) || (
            <tr>
              <th scope="row">Refunded later</th>
              <td />
              <td />
              <td>
                <Money usd={refunded_usd} isExact />
              </td>
            </tr>
          )}
          {upstream_cost_usd !== null && (
            <tr>
              <th scope="row">Upstream cost, for operators</th>
              <td />
              <td />
              <td>
                <Money usd={upstream_cost_usd} isExact />
              </td>
            </tr>
          )}
        </tfoot>
      </table>
    </Panel>
  );
}

type Line = ReceiptData["lines"][number];

/** What a line is charged for. A class without a name here is a tool at the provider. */
export function nameOfLine({ class: name }: Pick<Line, "class">): string {
  if (name === "request") return "Fee of the request";
  return CLASSES[name] ?? `Calls of ${name.replaceAll("_", " ")}`;
}

/** The price of a million tokens, of one unit, or of one call of a tool. */
export function printLinePrice(line: Pick<Line, "class" | "price_usd_per_million">): string {
  const { class: name, price_usd_per_million: usd } = line;
  if (UNITS.includes(name)) return withPoint(ofOne(usd));
  return name in CLASSES ? withPoint(usd) : `${withPoint(ofOne(usd))} each`;
}

/** A charge that is less than its lines has a line below zero. */
function printAmount(usd: string): string {
  return localise(usd.startsWith("-") ? `−$${usd.slice(1)}` : `$${usd}`);
}

/** Moves the decimal point of a price per million. */
function ofOne(usd: string): string {
  const [whole = "", decimals = ""] = usd.split(".");
  const digits = whole.padStart(MILLION_DIGITS + 1, "0");
  const moved = `${digits.slice(0, -MILLION_DIGITS)}.${digits.slice(-MILLION_DIGITS)}${decimals}`;
  return moved.replace(/0+$/, "").replace(/\.$/, "");
}

function isZero(usd: string): boolean {
  return /^0(\.0*)?$/.test(usd);
}
