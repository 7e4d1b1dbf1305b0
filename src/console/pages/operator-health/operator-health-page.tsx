import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function OperatorHealthPage() {
  return (
    <>
      <PageHeader title="Health" />
      <Empty title="Nothing here yet" />
    </>
  );
}
