import { formatCount, formatMs, formatPercent, localise } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Compact } from "../../parts/facts.tsx";
import { ChoiceFilter, SearchField } from "../../parts/filters.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { type Asked, Empty } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import { isChat, type ModelRow } from "../../queries/overview.ts";
import { useMay } from "../../session.ts";
import { type Ability, abilitiesOf, unitText } from "./model-words.ts";
import styles from "./models.module.css";

interface CatalogProps {
  readonly account: string;
  readonly search: { readonly q?: string; readonly can?: string };
  readonly query: Asked<{ readonly items: readonly ModelRow[] }>;
}

/** The models as a table that is searched, filtered by what they can do, and sorted. */
export function Catalog({ account, search, query }: CatalogProps) {
  const mayPlay = useMay("playground");
  const models = query.data?.items ?? [];
  const options = abilitiesAmong(models);
  const isFiltered = search.q !== undefined || search.can !== undefined;
  return (
    <Panel isFlush>
      <ListTable
        filters={
          <>
            <SearchField name="q" value={search.q} label="Name of a model" />
            {options.length > 0 && (
              <ChoiceFilter
                label="Can"
                name="can"
                usual="anything"
                options={options.map(({ id, text }) => ({ value: id, text }))}
                isOpen
              />
            )}
          </>
        }
        caption="Models with context, prices, speed and success"
        columns={columnsOf({ account, mayPlay })}
        rows={query.data && models.filter(matches(search))}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: "/accounts/$account/models/$model", params: { account, model: id } })}
        empty={<Empty icon="model" title={isFiltered ? "No model matches" : "No model yet"} />}
        query={query}
        footer={
          <span>
            {formatCount(models.filter(matches(search)).length)} of {formatCount(models.length)} models
          </span>
        }
      />
    </Panel>
  );
}

/** Every ability of the models, each once. */
function abilitiesAmong(models: readonly ModelRow[]): readonly Ability[] {
  const known = new Map(models.flatMap(abilitiesOf).map((each) => [each.id, each]));
  return [...known.values()];
}

function matches({ q = "", can }: CatalogProps["search"]) {
  const words = q.toLowerCase().split(/\s+/);
  return (model: ModelRow) =>
    words.every((word) => model.id.toLowerCase().includes(word)) &&
    (can === undefined || abilitiesOf(model).some(({ id }) => id === can));
}

interface ColumnParts {
  readonly account: string;
  readonly mayPlay: boolean;
}

function columnsOf({ account, mayPlay }: ColumnParts): readonly Column<ModelRow>[] {
  const tryIt: Column<ModelRow> = {
    id: "try",
    header: "",
    align: "end",
    cell: (model) =>
      isChat(model) && (
        <ButtonLink
          size="small"
          to="/accounts/$account/playground"
          params={{ account }}
          search={{ model: model.id }}
          label={`Try ${model.id}`}
        >
          Try
        </ButtonLink>
      ),
  };
  return [...COLUMNS, ...(mayPlay ? [tryIt] : [])];
}

/** Models without a figure come last. */
const COLUMNS: readonly Column<ModelRow>[] = [
  { id: "model", order: ({ id }) => id, header: "Model", cell: (model) => <Named model={model} /> },
  {
    id: "context",
    order: ({ context_window }) => context_window,
    header: "Context",
    align: "end",
    cell: ({ context_window }) => <Compact count={context_window} />,
  },
  {
    id: "input",
    order: ({ price, unit_price }) => (unit_price ? undefined : Number(price.input)),
    first: "ascending",
    header: "Input",
    align: "end",
    cell: (model) => printInput(model),
  },
  {
    id: "output",
    order: (model) => (isChat(model) ? Number(model.price.output) : undefined),
    first: "ascending",
    header: "Output",
    align: "end",
    cell: (model) => (isChat(model) ? localise(`$${model.price.output}`) : "–"),
  },
  {
    id: "first",
    order: ({ day }) => day?.first_output?.p50,
    first: "ascending",
    header: "First output",
    align: "end",
    cell: ({ day }) => formatMs(day?.first_output?.p50 ?? null),
  },
  {
    id: "success",
    order: ({ day }) => day?.success,
    header: "Success",
    align: "end",
    cell: ({ day }) => (day ? formatPercent(day.success) : "–"),
  },
];

function Named({ model }: { readonly model: ModelRow }) {
  const abilities = abilitiesOf(model);
  return (
    <span className={stack.named}>
      <span className={styles.named}>
        {model.id}
        {model.is_demo && <Badge tone="info">demo</Badge>}
      </span>
      {abilities.length > 0 && <small>{abilities.map(({ text }) => text).join(" · ")}</small>}
    </span>
  );
}

function printInput({ price, unit_price: unit }: ModelRow): string {
  return localise(unit ? `$${unit.usd} ${unitText(unit.unit)}` : `$${price.input}`);
}
