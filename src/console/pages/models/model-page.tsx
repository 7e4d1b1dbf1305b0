import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ClientModel } from "../../../clients/client.ts";
import { printSnippets } from "../../../clients/clients.ts";
import { LIBRARIES } from "../../../clients/libraries.ts";
import { printTaskSnippet } from "../../../clients/tasks.ts";
import { formatCount, formatMs, formatPercent } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { Fact } from "../../parts/facts.tsx";
import { Empty, Loaded } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Snippets } from "../../parts/snippets.tsx";
import stack from "../../parts/stack.module.css";
import { Stat, Stats } from "../../parts/stat.tsx";
import { isChat, type ModelRow, modelsQuery } from "../../queries/overview.ts";
import { setupQuery, useMay } from "../../session.ts";
import { abilitiesOf } from "./model-words.ts";
import { Prices } from "./prices.tsx";
import { Routes } from "./routes.tsx";

const route = getRouteApi("/shell/accounts/$account/models/$model");

/** One model: what it can do, what it costs, how it did in the last day, and how to call it. */
export function ModelPage() {
  const { account, model: id } = route.useParams();
  const query = useQuery(modelsQuery(account));
  const back = { to: "/accounts/$account/models", params: { account }, text: "Models" } as const;
  return (
    <div className={stack.page}>
      <Loaded query={query} waiting={<PageHeader title={id} back={back} />}>
        {({ items }) => {
          const model = items.find((each) => each.id === id);
          if (model) return <Shown account={account} model={model} back={back} />;
          return (
            <>
              <PageHeader title={id} back={back} />
              <Panel>
                <Empty icon="model" title="There is no such model">
                  It may have been renamed or removed from the configuration.
                </Empty>
              </Panel>
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

interface ShownProps {
  readonly account: string;
  readonly model: ModelRow;
  readonly back: { readonly to: "/accounts/$account/models"; readonly params: object; readonly text: string };
}

function Shown({ account, model, back }: ShownProps) {
  const mayPlay = useMay("playground");
  const abilities = abilitiesOf(model);
  return (
    <>
      <PageHeader
        title={model.id}
        back={back}
        badges={model.is_demo && <Badge tone="info">demo</Badge>}
        note={abilities.length > 0 && `Can: ${abilities.map(({ text }) => text).join(", ")}.`}
      >
        <ButtonLink
          to="/accounts/$account/usage"
          params={{ account }}
          search={{ model: model.id }}
          icon="usage"
        >
          Its usage
        </ButtonLink>
        {mayPlay && isChat(model) && (
          <ButtonLink
            look="primary"
            icon="playground"
            to="/accounts/$account/playground"
            params={{ account }}
            search={{ model: model.id }}
          >
            Try it
          </ButtonLink>
        )}
      </PageHeader>
      <Figures model={model} />
      {model.routes && <Routes model={model.id} routes={model.routes} unit={model.unit_price?.unit} />}
      <div className={stack.columns}>
        <Prices model={model} />
        <Facts model={model} />
      </div>
      <Calls model={model} />
    </>
  );
}

/** Success and first output of a model in the last day, rounded so that they show no single account. */
function Figures({ model: { day } }: { readonly model: ModelRow }) {
  const times = day?.first_output ?? null;
  const few = "fewer than 50 requests";
  return (
    <Stats label="The last 24 hours">
      <Stat
        name="Answered"
        value={day ? formatPercent(day.success) : "–"}
        note={day ? "of all requests, 24 hours" : `${few} in 24 hours`}
      />
      <Stat
        name="First output, median"
        value={formatMs(times?.p50 ?? null)}
        note={times ? "of streamed answers" : "too few streamed answers"}
      />
      <Stat
        name="First output, p95"
        value={formatMs(times?.p95 ?? null)}
        note={times ? "19 of 20 were faster" : "too few streamed answers"}
      />
    </Stats>
  );
}

function Facts({ model }: { readonly model: ModelRow }) {
  const tokens = (count: number) => `${formatCount(count)} tokens`;
  return (
    <Panel title="Limits">
      <dl className={stack.facts}>
        <Fact name="Context">{tokens(model.context_window)}</Fact>
        {isChat(model) && <Fact name="Output at most">{tokens(model.max_output_tokens)}</Fact>}
        {isChat(model) && (
          <Fact name="Output without a limit">{tokens(model.default_max_output_tokens)}</Fact>
        )}
        <Fact name="APIs">{model.surfaces.join(", ").replaceAll("_", " ")}</Fact>
      </dl>
    </Panel>
  );
}

/** The lines that call the model. */
function Calls({ model }: { readonly model: ModelRow }) {
  const { data: setup } = useQuery(setupQuery);
  const url = setup?.public_url ?? location.origin;
  const snippets = isChat(model)
    ? printSnippets({ url, models: [clientModelOf(model)] }, LIBRARIES)
    : model.surfaces.flatMap((surface) => printTaskSnippet({ url, model: model.id, surface }) ?? []);
  if (snippets.length === 0) return null;
  return (
    <Panel title="Call it" note="TOLLGATE_KEY holds the secret of a key.">
      <Snippets snippets={snippets} />
    </Panel>
  );
}

function clientModelOf({ id, context_window, max_output_tokens }: ModelRow): ClientModel {
  return { id, contextWindow: context_window, outputTokensMax: max_output_tokens };
}
