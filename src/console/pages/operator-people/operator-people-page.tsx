import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function OperatorPeoplePage() {
  return (
    <>
      <PageHeader title="People" />
      <Empty title="Nothing here yet" />
    </>
  );
}
