import { formatCount } from "../../format.ts";
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
              <th scope="row">{CLASSES[line.class] ?? line.class}</th>
              <td>{line.class === "other" ? "" : formatCount(line.tokens)}</td>
              <td>{line.class === "other" ? "" : `× ${priceOf(line)}`}</td>
              <td>= ${line.amount_usd}</td>
            </tr>
          ))}
          {isZero(rounding_usd) || (
            <tr>
              <th scope="row">Rounding up to a billionth of a dollar</th>
              <td />
              <td />
              <td>+ ${rounding_usd}</td>
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

function priceOf({ class: name, price_usd_per_million: usd }: ReceiptData["lines"][number]): string {
  return UNITS.includes(name) ? ofOne(usd) : usd;
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
