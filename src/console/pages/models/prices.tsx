import type { ReactNode } from "react";
import { formatCount, localise } from "../../format.ts";
import { Panel } from "../../parts/panel.tsx";
import type { ModelRow } from "../../queries/overview.ts";
import { unitText } from "./model-words.ts";
import styles from "./models.module.css";

type TokenPrice = ModelRow["price"];

const CLASSES = [
  ["input", "Input"],
  ["cached_input", "Cached input"],
  ["cache_write", "Cache write"],
  ["cache_write_1h", "Cache write, 1 hour"],
  ["output", "Output"],
] as const satisfies readonly (readonly [keyof TokenPrice, string])[];

/** A price beside the ordinary one: of a tier, or of long input. */
interface Other {
  readonly name: string;
  readonly price: TokenPrice;
}

/** Every price of a model: tokens by class and tier, long input, units, audio and images, tools. */
export function Prices({ model }: { readonly model: ModelRow }) {
  const { unit_price: unit, tool_prices: tools, apart_prices: apart } = model;
  return (
    <Panel title="Prices" note={unit ? undefined : "USD per million tokens."}>
      {unit ? <Units unit={unit} /> : <Tokens model={model} />}
      {apart && <Apart apart={apart} />}
      {tools && (
        <Lines
          caption="Tools that run at the provider"
          lines={Object.entries(tools).map(([name, usd]) => [
            name === "request" ? "Each request" : name.replaceAll("_", " "),
            localise(`$${usd} per call`),
          ])}
        />
      )}
    </Panel>
  );
}

function Tokens({ model }: { readonly model: ModelRow }) {
  const { price, tier_prices: tiers, long_price: long, max_output_tokens: output } = model;
  const others: readonly Other[] = [
    ...Object.entries(tiers ?? {}).map(([name, each]) => ({ name, price: each })),
    ...(long ? [{ name: `above ${formatCount(long.above_input_tokens)} input`, price: long.price }] : []),
  ];
  const shown = CLASSES.filter(([id]) => id !== "output" || output > 0);
  return (
    <div className={styles.scroll} tabIndex={0} role="group" aria-label="Prices of tokens">
      <table className={styles.others}>
        <caption hidden>Prices of tokens in USD per million</caption>
        <thead>
          <tr>
            <th scope="col">Tokens</th>
            <th scope="col">{others.length > 0 ? "standard" : "Price"}</th>
            {others.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(([id, name]) => (
            <tr key={id}>
              <th scope="row">{name}</th>
              <td>{localise(`$${price[id]}`)}</td>
              {others.map((other) => (
                <td key={other.name}>{localise(`$${other.price[id]}`)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Units({ unit }: { readonly unit: NonNullable<ModelRow["unit_price"]> }) {
  const each = unitText(unit.unit);
  const kinds = Object.entries(unit.kinds ?? {});
  const lines: readonly Line[] =
    kinds.length > 0
      ? kinds.map(([kind, usd]) => [kind, localise(`$${usd} ${each}`)])
      : [["Price", localise(`$${unit.usd} ${each}`)]];
  return <Lines caption="Prices by unit" lines={lines} />;
}

function Apart({ apart }: { readonly apart: NonNullable<ModelRow["apart_prices"]> }) {
  const of = (name: string, price: typeof apart.audio): readonly Line[] =>
    Object.entries(price ?? {}).flatMap(([id, usd]) =>
      usd === null ? [] : [[`${name}, ${id.replaceAll("_", " ")}`, localise(`$${usd}`)] as const],
    );
  return (
    <Lines
      caption="Tokens with a price of their own"
      lines={[...of("Audio", apart.audio), ...of("Image", apart.image)]}
    />
  );
}

type Line = readonly [name: string, price: ReactNode];

function Lines({ caption, lines }: { readonly caption: string; readonly lines: readonly Line[] }) {
  return (
    <table className={styles.others}>
      <caption className={styles.caption}>{caption}</caption>
      <tbody>
        {lines.map(([name, price]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{price}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
