import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function OperatorUsagePage() {
  return (
    <>
      <PageHeader title="Usage of all accounts" />
      <Empty title="Nothing here yet" />
    </>
  );
}
