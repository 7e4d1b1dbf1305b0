import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useRef } from "react";
import { RANGES, type RangeName, type RangeSearch, readRangeSearch } from "../ranges.ts";
import { describeZone, formatTime } from "../times.ts";
import { Button } from "./button.tsx";
import styles from "./range-picker.module.css";

interface RangePickerProps {
  readonly names?: readonly RangeName[];
  /** What holds while the URL names no range; `undefined` for all times. Default: 30 days. */
  readonly usual?: RangeName | undefined;
}

const NAMES: readonly RangeName[] = ["24h", "7d", "30d", "90d"];

/** Chooses the range of time that the URL holds as `range`, or as `from` and `to`; shows the viewer's zone. */
export function RangePicker(props: RangePickerProps) {
  const { names = NAMES } = props;
  const usual = "usual" in props ? props.usual : "30d";
  const search: RangeSearch = useSearch({
    strict: false,
    select: (all) => readRangeSearch(all as Record<string, unknown>),
  });
  const hasDays = search.from !== undefined;
  const chosen = hasDays ? undefined : (search.range ?? usual);
  return (
    <div className={styles.picker}>
      <span className={styles.zone}>{describeZone()}</span>
      <nav className={styles.names} aria-label="Range of time">
        {names.map((name) => (
          <Link
            key={name}
            to="."
            search={(all: object) => ({ ...withoutRange(all), range: name }) as never}
            className={styles.name}
            data-chosen={name === chosen}
            aria-current={name === chosen ? "true" : undefined}
            title={RANGES[name].title}
            replace
          >
            {name === "month" ? "Month" : name}
          </Link>
        ))}
        <Days search={search} />
      </nav>
    </div>
  );
}

function Days({ search: { from, to } }: { readonly search: RangeSearch }) {
  const details = useRef<HTMLDetailsElement>(null);
  const navigate = useNavigate();
  const choose = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const days = readRangeSearch({ from: form.get("from"), to: form.get("to") });
    if (details.current) details.current.open = false;
    void navigate({ to: ".", search: (all: object) => ({ ...withoutRange(all), ...days }) as never });
  };
  return (
    <details ref={details} className={styles.days} data-chosen={from !== undefined}>
      <summary>{from && to ? `${formatTime(from, "date")} – ${formatTime(to, "date")}` : "Days"}</summary>
      <form className={styles.form} onSubmit={choose}>
        <label>
          First day (UTC)
          <input type="date" name="from" required defaultValue={from} />
        </label>
        <label>
          Last day (UTC)
          <input type="date" name="to" required defaultValue={to} />
        </label>
        <Button type="submit" look="primary">
          Show
        </Button>
      </form>
    </details>
  );
}

/** A page of rows belongs to its range, so it goes with it. */
function withoutRange(search: object): object {
  return { ...search, range: undefined, from: undefined, to: undefined, page: undefined };
}
