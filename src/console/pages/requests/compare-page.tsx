import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { formatCount, plural } from "../../format.ts";
import { diffLines, type LinePair } from "../../line-diff.ts";
import { classes } from "../../parts/classes.ts";
import { printPretty } from "../../parts/code-block.tsx";
import { Empty, ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import { openedRecordingQuery, type RecordingContent } from "../../queries/recordings.ts";
import { useMay } from "../../session.ts";
import styles from "./bodies.module.css";
import { UNREADABLE } from "./bodies.tsx";

const route = getRouteApi("/shell/accounts/$account/compare");

/** The bodies of two requests side by side. */
export function ComparePage() {
  const { account } = route.useParams();
  const { left = "", right = "" } = route.useSearch();
  const mayRead = useMay("recordings.read");
  const enabled = mayRead && left !== "" && right !== "";
  const one = useQuery({ ...openedRecordingQuery(account, left), enabled });
  const other = useQuery({ ...openedRecordingQuery(account, right), enabled });
  const error = one.error ?? other.error;
  return (
    <div className={stack.page}>
      <PageHeader
        title="Two requests"
        note={
          <>
            <Name account={account} request={left} /> beside <Name account={account} request={right} />
          </>
        }
        back={{ to: "/accounts/$account/requests", params: { account }, text: "Requests" }}
      />
      {!mayRead && (
        <Panel>
          <Empty icon="requests" title="Your role does not read bodies">
            Owners and developers of the account may.
          </Empty>
        </Panel>
      )}
      {error && (
        <ErrorPanel error={error} onRetry={() => void Promise.all([one.refetch(), other.refetch()])} />
      )}
      {enabled && !error && !(one.data && other.data) && <Skeleton shape="block" />}
      {one.data && other.data && <Both left={one.data.content} right={other.data.content} />}
    </div>
  );
}

function Name({ account, request }: { readonly account: string; readonly request: string }) {
  return (
    <Link to="/accounts/$account/requests/$request" params={{ account, request }}>
      <code className={styles.name}>{request}</code>
    </Link>
  );
}

interface BothProps {
  readonly left: RecordingContent | null;
  readonly right: RecordingContent | null;
}

function Both({ left, right }: BothProps) {
  if (!left || !right) return <p role="alert">{UNREADABLE}</p>;
  return (
    <>
      <Compared title="Request" left={left.request.text} right={right.request.text} />
      <Compared title="Answer" left={left.answer?.text ?? ""} right={right.answer?.text ?? ""} />
    </>
  );
}

interface ComparedProps {
  readonly title: string;
  readonly left: string;
  readonly right: string;
}

function Compared({ title, left, right }: ComparedProps) {
  const pairs = useMemo(() => diffLines(printPretty(left), printPretty(right)), [left, right]);
  const changed = pairs.filter(({ left: one, right: other }) => one !== other).length;
  return (
    <Panel
      title={title}
      note={changed === 0 ? "Both are equal." : `${plural(changed, "line differs", "lines differ")}.`}
    >
      <table className={styles.diff} aria-label={`${title}, line by line`}>
        <tbody>
          {foldEqual(pairs).map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows never move.
            <Row key={index} row={row} />
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

/** A pair of lines, or the number of equal ones that are left out. */
type DiffRow = LinePair | { readonly skipped: number; readonly what: string };

const CONTEXT_LINES = 3;
const FOLDED_MIN = 8;
/** More rows would slow the page. */
const ROWS_MAX = 2_000;

function foldEqual(pairs: readonly LinePair[]): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let equal: LinePair[] = [];
  const flush = (isEnd: boolean) => {
    const head = rows.length === 0 ? 0 : CONTEXT_LINES;
    const tail = isEnd ? 0 : CONTEXT_LINES;
    const skipped = equal.length - head - tail;
    if (skipped < FOLDED_MIN) rows.push(...equal);
    else rows.push(...equal.slice(0, head), { skipped, what: "equal" }, ...equal.slice(equal.length - tail));
    equal = [];
  };
  for (const pair of pairs) {
    if (pair.left === pair.right) equal.push(pair);
    else {
      flush(false);
      rows.push(pair);
    }
  }
  flush(true);
  if (rows.length <= ROWS_MAX) return rows;
  return [...rows.slice(0, ROWS_MAX), { skipped: rows.length - ROWS_MAX, what: "further" }];
}

function Row({ row }: { readonly row: DiffRow }) {
  if ("skipped" in row) {
    return (
      <tr>
        <td colSpan={2} className={styles.skipped}>
          {formatCount(row.skipped)} {row.what} lines
        </td>
      </tr>
    );
  }
  const { left, right } = row;
  const isSame = left === right;
  return (
    <tr>
      <td className={classes(isSame && styles.same)}>
        {!isSame && left !== undefined && <del>{left}</del>}
        {isSame && left}
      </td>
      <td className={classes(isSame && styles.same)}>
        {!isSame && right !== undefined && <ins>{right}</ins>}
        {isSame && right}
      </td>
    </tr>
  );
}
