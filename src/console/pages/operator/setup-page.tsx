import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Choice, Failure, Field, Form, readForm } from "../../parts/field.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import type { DataOf } from "../../query.ts";
import { setupQuery } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import styles from "./setup.module.css";
import { type Added, ModelStep, type Proof, prove, type Wish } from "./setup-models.tsx";

const providersQuery = () =>
  queryOptions({
    queryKey: ["operator", "setup"],
    queryFn: () => call(() => api.operator.setup.get()),
  });

type State = DataOf<typeof providersQuery>;

const OBSTACLES = {
  read_only: "The folder of the settings cannot be written from here: you get the lines to paste.",
  several_gateways:
    "Several gateways use this database, each with files of its own: you get the lines to paste.",
  unreadable: "The file of the settings has a problem: bun tollgate check lists it.",
} as const satisfies Record<NonNullable<State["obstacle"]>, string>;

/** What is named of a cloud beside the key. */
const PLACES = {
  resource: {
    label: "Resource",
    hint: "The first part of https://NAME.openai.azure.com. A deployment has the name of its model.",
  },
  region: {
    label: "Region",
    hint: "Such as us-east-1. Credentials of AWS are those of the machine: a role, a profile or variables.",
  },
  project: {
    label: "Project",
    hint: "The id of a Google Cloud project. Credentials are those of the machine.",
  },
} as const satisfies Record<NonNullable<State["providers"][number]["place"]>, object>;

const OWN_SERVER = "bun tollgate init --provider openai --upstream own --base-url http://127.0.0.1:8000/v1";

/** Adds a provider, with its key proved, and models of it: what `bun tollgate init` does on the machine. */
export function SetupPage() {
  const query = useQuery(providersQuery());
  const { data: setup } = useQuery(setupQuery);
  return (
    <div className={stack.page}>
      <PageHeader
        title="Set up"
        note="A provider, its key and the models that clients may use. Keys are kept in .env of this gateway alone."
      >
        {setup?.demo_only && <ButtonLink to="/">Skip</ButtonLink>}
      </PageHeader>
      <Loaded query={query} waiting={null}>
        {(state) => <Steps state={state} />}
      </Loaded>
    </div>
  );
}

function Steps({ state }: { readonly state: State }) {
  const [wish, setWish] = useState<Wish>();
  const [proof, setProof] = useState<Proof>();
  const [added, setAdded] = useState<Added>();
  const restart = () => {
    setWish(undefined);
    setProof(undefined);
    setAdded(undefined);
  };
  if (added) return <Done added={added} onMore={restart} />;
  return (
    <>
      {state.obstacle && <p className={stack.warning}>{OBSTACLES[state.obstacle]}</p>}
      <ProviderStep
        state={state}
        onProved={(next, found) => {
          setWish(next);
          setProof(found);
        }}
      />
      {wish && proof && proof.state !== "refused" && (
        <ModelStep key={wish.provider} wish={wish} proof={proof} onAdded={setAdded} />
      )}
      {!wish && <OwnServer />}
    </>
  );
}

interface ProviderStepProps {
  readonly state: State;
  readonly onProved: (wish: Wish, proof: Proof) => void;
}

function ProviderStep({ state: { providers }, onProved }: ProviderStepProps) {
  const [name, setName] = useState(providers[0]?.name ?? "");
  const check = useAction({ act: prove, isForm: true, onDone: (proof, wish) => onProved(wish, proof) });
  const provider = providers.find((each) => each.name === name);
  const { data: proof } = check;
  return (
    <Panel title="1. Provider" note="One call lists its models with the key. It costs nothing.">
      <div className={stack.narrow}>
        <Form
          error={check.error}
          onSubmit={(event) => {
            const { key = "", place = "" } = readForm(event);
            const given = {
              ...(key.trim() && { key: key.trim() }),
              ...(place.trim() && { place: place.trim() }),
            };
            check.mutate({ provider: name, ...given });
          }}
        >
          <Failure error={check.error} />
          <Choice
            label="Provider"
            name="provider"
            value={name}
            options={providers.map((each) => ({ value: each.name, text: each.name }))}
            onChange={(event) => {
              setName(event.currentTarget.value);
              check.reset();
            }}
          />
          {provider?.upstream == null ? (
            <NewProvider key={name} provider={provider} problem={proof?.problem ?? undefined} />
          ) : (
            <p className={stack.soft}>
              The upstream {provider.upstream} has a key already.{" "}
              {proof?.state === "refused" && proof.problem}
            </p>
          )}
          <div>
            <Button type="submit" look="primary" isBusy={check.isPending}>
              {provider?.variable == null ? "Check" : "Check the key"}
            </Button>
          </div>
        </Form>
      </div>
    </Panel>
  );
}

function OwnServer() {
  return (
    <Panel
      title="A server of your own"
      note="Added on the machine: no address is typed here, so that nobody who takes over a session reaches your network."
    >
      <CodeBlock code={OWN_SERVER} label="command for a server of your own" isWrapped />
    </Panel>
  );
}

interface NewProviderProps {
  readonly provider: State["providers"][number] | undefined;
  /** Why the last check has failed. */
  readonly problem: string | undefined;
}

/** The fields of a provider that the file does not have. */
function NewProvider({ provider, problem }: NewProviderProps) {
  const error = problem && `The provider ${problem.replace(/\.$/, "")}.`;
  const place = provider?.place && PLACES[provider.place];
  return (
    <>
      {place && (
        <Field
          label={place.label}
          name="place"
          maxLength={63}
          autoComplete="off"
          hint={place.hint}
          error={provider.variable === null ? error : undefined}
          required
        />
      )}
      {provider?.variable != null && (
        <Field
          label="Key"
          name="key"
          type="password"
          autoComplete="off"
          maxLength={512}
          hint={`Kept as ${provider.variable}.`}
          error={error}
          required
        />
      )}
    </>
  );
}

/** What was added, or the lines to paste; and the way on. */
function Done({ added, onMore }: { readonly added: Added; readonly onMore: () => void }) {
  const isWritten = added.state === "written";
  const variables = added.variables.map((name) => `${name}=`).join("\n");
  return (
    <Panel
      title={isWritten ? "Added" : "Lines to paste"}
      note={
        isWritten
          ? "The gateway serves it within two seconds. Next: a key for clients."
          : "Into tollgate.yaml and the variables of each gateway, which takes them within two seconds."
      }
    >
      <div className={styles.stack}>
        {isWritten && (
          <p>{added.models.length === 0 ? "All of these models were there." : added.models.join(", ")}</p>
        )}
        {added.yaml && (
          <div className={styles.lines}>
            <CodeBlock code={added.yaml} label="lines of tollgate.yaml" />
            <CodeBlock code={variables} label="variables" />
          </div>
        )}
        <div className={stack.line}>
          <ButtonLink look="primary" to="/">
            Go to the overview
          </ButtonLink>
          <Button onClick={onMore}>Add another</Button>
        </div>
      </div>
    </Panel>
  );
}
