import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { TIERS, type Tier } from "../../../domain/tiers.ts";
import { formatCount } from "../../format.ts";
import { Choice, Field, FieldRow, useIsRefused } from "../../parts/field.tsx";
import { SpendingFields } from "../../parts/spending-limit.tsx";
import { LastDayField } from "../../parts/typed-fields.tsx";
import { keysPageQuery } from "../../queries/keys.ts";
import { catalogQuery } from "../../queries/overview.ts";
import { projectsQuery } from "../../queries/projects.ts";
import { formatDay } from "../../times.ts";
import type { KeyValues } from "./key-values.ts";
import styles from "./keys.module.css";

type RateName = "requests_per_minute" | "tokens_per_minute" | "concurrent_requests";

interface KeyFieldsProps {
  readonly account: string;
  readonly values?: KeyValues | undefined;
  /** The project of a new key. Default: that of the account. */
  readonly project?: string | undefined;
  /** Whether another key made this one: project and rates are those of the key at the top. */
  readonly isBelow?: boolean;
}

/** Every field of a key. */
export function KeyFields({ account, values, project, isBelow = false }: KeyFieldsProps) {
  const expiry = values?.expires_at ? Date.parse(values.expires_at) : null;
  return (
    <>
      <Field
        label="Name"
        name="name"
        hint="Where the key is used: “production”, “laptop of Kim”."
        defaultValue={values?.name}
        maxLength={100}
        autoComplete="off"
        required
      />
      {!isBelow && <ProjectField account={account} chosen={values?.project_id ?? project ?? account} />}
      <fieldset className={styles.group}>
        <legend>Limits</legend>
        <LimitFields values={values} empty={useDefaultLimits(account)} hasRates={!isBelow} />
      </fieldset>
      <fieldset className={styles.group}>
        <legend>Models and expiry</legend>
        <ModelFields account={account} chosen={values?.models ?? null} />
        <TierFields chosen={values?.tiers ?? null} />
        <LastDayField
          subject="The key expires"
          defaultValue={expiry === null ? "" : formatDay(expiry)}
          // A key that has expired may keep its day.
          min={formatDay(Math.min(expiry ?? Infinity, Date.now()))}
        />
        <label className={styles.check}>
          <input
            type="checkbox"
            name="allows_paid_tools"
            defaultChecked={values?.allows_paid_tools ?? true}
          />
          May use tools at the provider that have a fee, such as a web search
        </label>
        <label className={styles.check}>
          <input type="checkbox" name="allows_clamp" defaultChecked={values?.allows_clamp ?? false} />
          Shorten answers to what limits and wallet still allow, instead of refusing them
        </label>
        <label className={styles.check}>
          <input type="checkbox" name="allows_children" defaultChecked={values?.allows_children ?? false} />
          May make keys below it, for the runs of agents: they spend from its limit and end with it
        </label>
      </fieldset>
    </>
  );
}

interface LimitFieldsProps {
  readonly values?: Pick<KeyValues, "spending_limit" | RateName> | undefined;
  /** What an empty field means. */
  readonly empty: (name: RateName) => string;
  readonly hasRates?: boolean;
}

/** The limits of a key; the simulator has the same. */
export function LimitFields({ values, empty, hasRates = true }: LimitFieldsProps) {
  const count = (name: RateName, label: string) => (
    <Field
      label={label}
      name={name}
      type="number"
      min={0}
      step={1}
      inputMode="numeric"
      placeholder={empty(name)}
      defaultValue={values?.[name] ?? ""}
    />
  );
  return (
    <>
      <SpendingFields
        limit={values?.spending_limit ?? null}
        hint="Counts what the key has spent since the period began."
      />
      {hasRates && (
        <FieldRow>
          {count("requests_per_minute", "Requests / minute")}
          {count("tokens_per_minute", "Tokens / minute")}
          {count("concurrent_requests", "Running at once")}
        </FieldRow>
      )}
    </>
  );
}

/** What an empty field means: the configured limit of all keys, as far as a listed key shows it. */
function useDefaultLimits(account: string): (name: RateName) => string {
  const { data } = useQuery(keysPageQuery(account, {}));
  return (name) => {
    for (const { [name]: rate } of data?.items ?? []) {
      if (rate === null) return "no limit";
      if (rate.source === "default") return `default: ${formatCount(rate.limit)}`;
    }
    return "default";
  };
}

interface ProjectFieldProps {
  readonly account: string;
  readonly chosen: string;
}

/** The project of a key, where the account has more than its default one. */
function ProjectField({ account, chosen }: ProjectFieldProps) {
  const { data } = useQuery(projectsQuery(account));
  const open = data?.items.filter(({ id, archived_at }) => archived_at === null || id === chosen) ?? [];
  if (open.length < 2) return <input type="hidden" name="project_id" value={chosen} />;
  return (
    <Choice
      label="Project"
      name="project_id"
      hint="Its budget binds the key too, and what the key spends counts for it."
      defaultValue={chosen}
      options={open.map(({ id, name, archived_at }) => ({
        value: id,
        text: archived_at === null ? name : `${name} (archived)`,
      }))}
      refusal="There is no such project."
    />
  );
}

interface ModelFieldsProps {
  readonly account: string;
  readonly chosen: readonly string[] | null;
}

function ModelFields({ account, chosen }: ModelFieldsProps) {
  const isRefused = useIsRefused("models");
  const { data } = useQuery(catalogQuery(account));
  // A key keeps models that the catalog no longer has.
  const ids = [...new Set([...(data?.items.map(({ id }) => id) ?? []), ...(chosen ?? [])])].sort();
  return (
    <AllOrSome
      label="Models"
      names={{ scope: "scope", items: "models" }}
      texts={{ all: "Every model, also later ones", some: "Only these models" }}
      items={ids}
      chosen={chosen}
    >
      {/* Sent also without a choice, so that the form knows its field. */}
      <input type="hidden" name="models" value="" />
      {isRefused && (
        <p className={styles.wrong} role="alert">
          Choose at least one model.
        </p>
      )}
    </AllOrSome>
  );
}

/** The service tiers that a key may ask for; without a choice, the standard one alone. */
function TierFields({ chosen }: { readonly chosen: readonly Tier[] | null }) {
  return (
    <AllOrSome
      label="Service tiers"
      names={{ scope: "tier_scope", items: "tiers" }}
      texts={{ all: "Every service tier that has a price", some: "The standard tier, and these" }}
      items={TIERS}
      chosen={chosen}
    />
  );
}

interface AllOrSomeProps {
  readonly label: string;
  /** The names of the two buttons and of the checkboxes in the form. */
  readonly names: { readonly scope: string; readonly items: string };
  readonly texts: { readonly all: string; readonly some: string };
  readonly items: readonly string[];
  /** `null` for all. */
  readonly chosen: readonly string[] | null;
  /** Below the items. */
  readonly children?: ReactNode;
}

/** A choice between everything and a list of items. */
function AllOrSome({ label, names, texts, items, chosen, children }: AllOrSomeProps) {
  const [hasSome, setHasSome] = useState(chosen !== null);
  const scope = (value: "all" | "some") => (
    <label className={styles.check}>
      <input
        type="radio"
        name={names.scope}
        value={value}
        checked={hasSome === (value === "some")}
        onChange={() => setHasSome(value === "some")}
      />
      {texts[value]}
    </label>
  );
  return (
    <div role="group" aria-label={label}>
      <div className={styles.choices}>
        {scope("all")}
        {scope("some")}
      </div>
      {hasSome && (
        <div className={styles.checks}>
          {items.map((item) => (
            <label key={item} className={styles.check}>
              <input
                type="checkbox"
                name={names.items}
                value={item}
                defaultChecked={chosen?.includes(item) ?? false}
              />
              {item}
            </label>
          ))}
        </div>
      )}
      {hasSome && children}
    </div>
  );
}
