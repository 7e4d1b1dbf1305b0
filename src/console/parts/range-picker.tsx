import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { isOfHours, RANGES, type RangeName, type RangeSearch, readRangeSearch } from "../ranges.ts";
import { withSearch } from "../search.ts";
import { DAY_MS, describeZone, formatTime } from "../times.ts";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import { Disclosure } from "./disclosure.tsx";
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
  const chosen = hasDays ? undefined : (search.range ?? usual ?? "all");
  const options = names.map((name) => ({ range: name, text: textOf(name), title: RANGES[name].title }));
  const all = { range: undefined, text: "All", title: "All times" };
  return (
    <div className={styles.picker}>
      <span className={styles.zone}>{describeZone()}</span>
      <nav className={styles.names} aria-label="Range of time">
        {(usual ? options : [all, ...options]).map(({ range, text, title }) => (
          <Link
            key={text}
            to="."
            search={withSearch({ ...NO_RANGE, range })}
            className={styles.name}
            data-chosen={(range ?? "all") === chosen}
            aria-current={(range ?? "all") === chosen ? "true" : undefined}
            title={title}
            replace
          >
            {text}
          </Link>
        ))}
        <Days key={`${search.from} ${search.to}`} search={search} />
      </nav>
    </div>
  );
}

function textOf(name: RangeName): string {
  return name === "month" ? "Month" : name;
}

/** Chooses two days, in any order. Another choice in the URL makes another instance, which is closed. */
function Days({ search: { from, to } }: { readonly search: RangeSearch }) {
  const navigate = useNavigate();
  const choose = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [first, last] = [String(form.get("from")), String(form.get("to"))].sort();
    const days = readRangeSearch({ from: first, to: last });
    void navigate({ to: ".", search: withSearch({ ...NO_RANGE, ...days }) });
  };
  return (
    <Disclosure
      className={styles.days ?? ""}
      summaryClass={classes(styles.daysName, from !== undefined && styles.chosen)}
      summary={from && to ? describeDays(from, to) : "Days"}
    >
      <form className={styles.form} onSubmit={choose}>
        <label>
          First day (UTC)
          <input type="date" name="from" required defaultValue={from?.slice(0, 10)} />
        </label>
        <label>
          Last day (UTC)
          <input type="date" name="to" required defaultValue={to?.slice(0, 10)} />
        </label>
        <Button type="submit" look="primary">
          Show
        </Button>
      </form>
    </Disclosure>
  );
}

/** Days of UTC, whatever the viewer's zone: "1 Nov 2026 – 3 Nov 2026". Hours are those of the viewer. */
function describeDays(from: string, to: string): string {
  if (isOfHours({ from })) {
    const isDay = Date.parse(to) - Date.parse(from) < DAY_MS;
    return `${formatTime(from)} – ${formatTime(to, isDay ? "shortClock" : "minute")}`;
  }
  // Noon is on the same day in most zones.
  const [first, last] = [from, to].map((day) => formatTime(`${day}T12:00:00Z`, "date"));
  return first === last ? String(first) : `${first} – ${last}`;
}

/** A page of rows belongs to its range, so it goes with it. */
const NO_RANGE = { range: undefined, from: undefined, to: undefined, page: undefined };
